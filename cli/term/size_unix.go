//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// sizeOf is the size of a terminal; ok is false for anything else.
func sizeOf(file *os.File) (columns, rows int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}
