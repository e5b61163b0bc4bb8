package term

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether stream is a terminal: a person reads what is written to it, or types
// what is read from it.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// sizeOf returns the size of a terminal; ok is false for anything else.
func sizeOf(stream any) (columns, rows int, ok bool) {
	file, isFile := stream.(*os.File)
	if !isFile || !IsTerminal(stream) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	return columns, rows, err == nil
}
