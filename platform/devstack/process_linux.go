package devstack

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// setDeathSignal makes the kernel send sig to the child when the thread that started it ends.
func setDeathSignal(attr *syscall.SysProcAttr, sig syscall.Signal) {
	attr.Pdeathsig = sig
}

// zombie reads the state letter after the program's name in parentheses.
func zombie(pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err)
	}
	end := bytes.LastIndexByte(content, ')')
	return end >= 0 && bytes.HasPrefix(content[end:], []byte(") Z"))
}
