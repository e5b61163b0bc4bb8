//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package term

import (
	"errors"
	"os"
)

// Hide cannot be done here.
func Hide(*os.File) (restore func(), err error) {
	return nil, errors.New("this system cannot; give the secret in a file or a variable")
}
