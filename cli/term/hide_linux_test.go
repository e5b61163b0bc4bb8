package term

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal stops showing what is typed, and shows it again.
func TestHide(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = master.Close() }() // the end of the test
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }() // the end of the test
	shows := func() bool {
		t.Helper()
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), getTermios)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	before := shows()
	restore, err := Hide(terminal)
	if err != nil {
		t.Fatal(err)
	}
	if shows() {
		t.Error("it is shown while it should not be")
	}
	restore()
	if !before || !shows() {
		t.Error("it is not shown again")
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // the end of the test
	if _, err := Hide(file); err == nil {
		t.Error("a file was taken for a terminal")
	}
}
