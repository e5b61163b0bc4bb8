package clitest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli"
)

// Result is what a command did.
type Result struct {
	Code     int
	Out, Err string
}

// Execute runs a command with this input.
func Execute(t *testing.T, input string, args ...string) Result {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Execute(t.Context(), cli.IO{In: strings.NewReader(input), Out: &out, Err: &errs}, args)
	return Result{code, out.String(), errs.String()}
}

// Wants fails the test unless the command ended with the code and printed all the texts.
func (r Result) Wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.Code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", r.Code, code, r.Out, r.Err)
	}
	for _, text := range texts {
		if !strings.Contains(r.Out+r.Err, text) {
			t.Errorf("the output lacks %q:\n%s%s", text, r.Out, r.Err)
		}
	}
}

// JSONLines decodes the JSON objects that the command printed.
func (r Result) JSONLines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for decoder := json.NewDecoder(strings.NewReader(r.Out)); decoder.More(); {
		var line map[string]any
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("%v in\n%s", err, r.Out)
		}
		lines = append(lines, line)
	}
	return lines
}

// WriteTree writes files below a new folder, which it returns.
func WriteTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		WriteFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	return root
}

// WriteFile writes a file and makes its folder.
func WriteFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ReadFile reads a file.
func ReadFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
