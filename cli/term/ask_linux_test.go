package term

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// openPTY returns both ends of a pseudo terminal: what a person types goes into typed.
func openPTY(t *testing.T) (typed, terminal *os.File) {
	t.Helper()
	typed, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = typed.Close() }) // the end of the test
	if err := unix.IoctlSetPointerInt(int(typed.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(typed.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() }) // the end of the test
	return typed, terminal
}

// A terminal does not show a secret while it is typed, and shows what is typed after it.
func TestSecretIsHidden(t *testing.T) {
	t.Parallel()
	typed, terminal := openPTY(t)
	shows := func() bool {
		t.Helper()
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	if !IsTerminal(terminal) || !shows() {
		t.Fatal("this is not a terminal that shows what is typed")
	}
	var asked bytes.Buffer
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := (&Asker{In: terminal, Out: &asked}).Secret(t.Context(), "Password: ")
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
	if _, err := (&Asker{In: file, Out: &asked}).Secret(t.Context(), ""); err == nil || IsTerminal(file) {
		t.Error("a file was taken for a terminal")
	}
}
