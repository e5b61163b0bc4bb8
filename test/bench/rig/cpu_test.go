package rig

import (
	"testing"
	"time"
)

// TestMachineTime reads /proc/stat as proc(5) has it, and what is none of it.
func TestMachineTime(t *testing.T) {
	t.Parallel()
	got := parseMachineTime("cpu  170 0 60 9000 90 0 10 60 7 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	if want := (MachineTime{Busy: 3 * time.Second, Stolen: 600 * time.Millisecond}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, none := range []string{"", "cpu 1 2 3", "cpu0 1 1 1 1 1 1 1 1", "cpu a b c d e f g h"} {
		if got := parseMachineTime(none); got != (MachineTime{}) {
			t.Errorf("%q: %v", none, got)
		}
	}
}
