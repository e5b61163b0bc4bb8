package term_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/test/pty"
)

// A terminal does not show a secret while it is typed, and shows what is typed after it.
func TestSecretIsHidden(t *testing.T) {
	t.Parallel()
	typed, terminal := pty.Open(t)
	shows := func() bool {
		t.Helper()
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	if !term.IsTerminal(terminal) || !shows() {
		t.Fatal("this is not a terminal that shows what is typed")
	}
	var asked bytes.Buffer
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := (&term.Asker{In: terminal, Out: &asked}).Secret(t.Context(), "Password: ")
		answers <- answer{text, err}
	}()
	for shows() {
		runtime.Gosched()
	}
	if _, err := typed.WriteString("sesame\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.text != "sesame" || got.err != nil {
		t.Errorf("got %q, %v", got.text, got.err)
	}
	if asked.String() != "Password: \n" || !shows() {
		t.Errorf("it wrote %q; the terminal shows what is typed: %v", asked.String(), shows())
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // the end of the test
	if _, err := (&term.Asker{In: file, Out: &asked}).Secret(t.Context(), ""); err == nil || term.IsTerminal(file) {
		t.Error("a file was taken for a terminal")
	}
}
