//go:build !linux

package child

import "syscall"

func dieWithUs(*syscall.SysProcAttr) {}
