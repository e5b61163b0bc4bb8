package main

import "testing"

// TestStealTime reads /proc/stat as proc(5) has it, and what is none of it.
func TestStealTime(t *testing.T) {
	t.Parallel()
	before := parseStealTime("cpu  100 0 50 1000 20 0 10 40 7 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	after := parseStealTime("cpu  170 0 60 9000 90 0 10 60 7 0\n")
	if row := after.row(before, "a part"); row.Value != 20 { // 20 of 70 + 10 + 20
		t.Errorf("%v %%, want 20", row.Value)
	}
	for _, none := range []string{"", "cpu 1 2 3", "cpu0 1 1 1 1 1 1 1 1", "cpu a b c d e f g h"} {
		if got := parseStealTime(none); got != (stealTime{}) {
			t.Errorf("%q: %v", none, got)
		}
	}
	if row := (stealTime{}).row(stealTime{}, "a part"); row.Value != 0 {
		t.Errorf("%v %% of nothing", row.Value)
	}
}
