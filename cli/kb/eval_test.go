package kb_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestKBEval(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	folder := clitest.WriteTree(t, map[string]string{
		"returns.md": returnsText, "garage.md": "# Garage\n\nThe garage closes at midnight.", "dogs.md": "# Dogs\n\nDogs are welcome on a lead.",
	})
	w.kb(t, "", "add", folder, "--attach", "default").Wants(t, command.ExitDone, "3 ready")
	questions := "q,sources\nWithin how many days can books be returned?,returns.md\nWhen does the garage close?,\"garage.md; dogs.md\"\n"
	first := w.kb(t, questions, "eval", "-", "--name", "before")
	first.Wants(t, command.ExitDone, "similarity", "hybrid", "2 of 2", "100.0 %", "1.000", "Stored as evl_")
	id := regexp.MustCompile(`evl_\w+`).FindString(first.Out)

	w.kb(t, "", "detach", "garage.md").Wants(t, command.ExitDone)
	w.kb(t, questions, "eval", "-", "--compare-to", id, "--misses", "--top-k", "1").Wants(t, command.ExitDone,
		"1 of 2", "50.0 %", "hit rate -50.0 %", "↓ When does the garage close?: place 1 → not found", "✗  When does the garage close?")
	w.kb(t, `{"q": "dogs", "sources": ["no such.md"]}`, "eval", "-").Wants(t, command.ExitFailed, "evaluate: ", "no such.md")
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	clitest.WriteFile(t, file, `{"q": "dogs on a lead", "sources": ["dogs.md"]}`)
	got := w.kb(t, "", "eval", file, "--json")
	got.Wants(t, command.ExitDone)
	if line := got.JSONLines(t)[0]; line["question_count"] != 1.0 {
		t.Errorf("question_count %v, want 1", line["question_count"])
	}
}
