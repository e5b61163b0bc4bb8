package redistest

import "syscall"

// dieWithUs makes the kernel kill a child when the test binary is killed.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
