package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHadamard: twice gives every number as often as a block is long, and blocks do not touch each
// other.
func TestHadamard(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	v := make([]float32, 96)
	for i := range v {
		v[i] = float32(r.IntN(100) - 50) // sums are exact
	}
	turned := slices.Clone(v)
	Hadamard(turned, 32)
	var sum float32
	for _, x := range v[32:64] {
		sum += x
	}
	if turned[32] != sum {
		t.Errorf("the first of the second block is %v, want the block's sum %v", turned[32], sum)
	}
	Hadamard(turned, 32)
	for i := range v {
		if turned[i] != 32*v[i] {
			t.Fatalf("number %d: %v, want %v", i, turned[i], 32*v[i])
		}
	}
}

// TestSplitMix64: the first numbers of SplitMix64 from 0, as its author published them.
func TestSplitMix64(t *testing.T) {
	t.Parallel()
	var state uint64
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := SplitMix64(&state); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	}
}
