// Package doctools gives tests the programs that PDF files and pictures are read with, those that
// make them, and the one that speaks. On Debian and Ubuntu as root it installs what is missing,
// once; elsewhere the test fails with the line to run.
package doctools

import (
	"testing"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/sandbox"
)

// Need makes the programs of devstack.DocumentTools present.
func Need(t testing.TB) {
	t.Helper()
	need(t, devstack.DocumentTools())
}

// NeedSpeech makes the programs of devstack.SpeechTools present.
func NeedSpeech(t testing.TB) {
	t.Helper()
	need(t, devstack.SpeechTools())
}

// NeedMakers makes the programs present that tests make documents with: qpdf encrypts, cwebp
// makes WEBP pictures.
func NeedMakers(t testing.TB) {
	t.Helper()
	need(t, []devstack.Tool{
		{Command: "qpdf", Apt: "qpdf", Brew: "qpdf"},
		{Command: "cwebp", Apt: "webp", Brew: "webp"},
	})
}

// Sandbox makes a sandbox for the programs of Need.
func Sandbox(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	Need(t)
	box, err := sandbox.New(t.Context(), sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

func need(t testing.TB, tools []devstack.Tool) {
	t.Helper()
	if err := devstack.InstallTools(t.Context(), devstack.Options{Tools: tools, Log: t.Logf}); err != nil {
		t.Fatalf("doctools: %v", err)
	}
}
