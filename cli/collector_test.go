package cli

import "testing"

func TestPercentFor(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 300, 1 << 20: 300, 85 << 20: 300, 128 << 20: 200, 256 << 20: 100, 1 << 40: 50} {
		if got := percentFor(live); got != want {
			t.Errorf("with %d MiB alive: %d, want %d", live>>20, got, want)
		}
	}
}
