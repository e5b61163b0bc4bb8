package fair_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/platform/fair"
)

func TestShares(t *testing.T) {
	t.Parallel()
	now := time.Now()
	gate := fair.New(fair.Config{Slots: 8, SharePercent: 50, Now: func() time.Time { return now }})
	leave, ok := gate.TryEnter("a")
	if held, share := gate.Shares(); !ok || held["a"] != 1 || share != 8 {
		t.Errorf("alone: %v of %d, want one of all eight", held, share)
	}
	gate.Expect("b")
	if held, share := gate.Shares(); len(held) != 1 || share != 4 {
		t.Errorf("in company: %v of %d, want one of four", held, share)
	}
	leave()
	now = now.Add(2 * time.Hour)
	if held, share := gate.Shares(); len(held) != 0 || share != 8 {
		t.Errorf("long after: %v of %d, want none of eight", held, share)
	}
}
