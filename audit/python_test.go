package audit_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"parlance.dev/parlance/audit"
)

// TestProgramInDocs runs the Python program of docs/audit.md: others verify an export with it.
func TestProgramInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```python\n")
	program, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("docs/audit.md has no program")
	}
	l := open(t)
	l.append(t, 4)
	var export bytes.Buffer
	var v audit.Verifier
	err = l.Each(t.Context(), l.tenant, 0, func(e audit.Entry) error {
		line, err := e.Line()
		export.Write(line)
		if err != nil {
			return err
		}
		return v.Add(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(input string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
		cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), "PYTHONUTF8=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(export.String()); err != nil || !strings.Contains(out, "4 entries, head "+v.Head().String()) {
		t.Errorf("got %q (%v), want the head %s", out, err, v.Head())
	}
	if out, err := run(strings.Replace(export.String(), "key_1", "key_2", 1)); err == nil || !strings.Contains(out, "entry 1 was changed") {
		t.Errorf("a changed entry: %q (%v)", out, err)
	}
}
