//go:build !linux

package redistest

import "syscall"

// dieWithUs is for Linux only; elsewhere a killed test binary leaves its children behind.
func dieWithUs() *syscall.SysProcAttr { return nil }
