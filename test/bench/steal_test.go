package main

import (
	"testing"
	"time"

	"parlance.dev/parlance/test/bench/rig"
)

// TestStealRow checks the share of stolen time.
func TestStealRow(t *testing.T) {
	t.Parallel()
	before := rig.MachineTime{Busy: 2 * time.Second, Stolen: 400 * time.Millisecond}
	now := rig.MachineTime{Busy: 3 * time.Second, Stolen: 600 * time.Millisecond}
	if row := stealRow(before, now, "a part"); row.Value != 20 {
		t.Errorf("%v %%, want 20", row.Value)
	}
	if row := stealRow(now, now, "a part"); row.Value != 0 {
		t.Errorf("%v %% of nothing", row.Value)
	}
}
