//go:build unix && !linux

package devstack

import "syscall"

// setDeathSignal does nothing: only Linux has death signals. A server whose starter was killed
// is found again by the next Start.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}

// zombie is false: launchd and the BSDs' init reap orphans.
func zombie(int) bool { return false }
