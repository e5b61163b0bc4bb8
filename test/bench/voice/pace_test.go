package main

import (
	"slices"
	"testing"
	"time"
)

// TestPace: pieces that come as soon as they may have no delay; others have theirs, and one that
// comes when all before it was played is late.
func TestPace(t *testing.T) {
	t.Parallel()
	began := time.Unix(0, 0)
	p := pace{silent: true}
	for _, ms := range []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 95, 700} {
		p.took(pieceLength, began.Add(time.Duration(ms)*time.Millisecond))
	}
	// Ten pieces may come at once, and one each 40 ms from then on. The last one was allowed after
	// 120 ms.
	want := []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 580}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if !slices.Equal(p.delays, want) {
		t.Errorf("delays %v, want %v", p.delays, want)
	}
	if p.late != 1 {
		t.Errorf("%d pieces are late, want 1", p.late)
	}
	p.silent = true
	p.took(pieceLength, began.Add(time.Hour))
	if len(p.delays) != len(want) || p.late != 1 {
		t.Error("the first piece of an answer has a delay")
	}
}
