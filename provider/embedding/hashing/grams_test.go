package hashing

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGramsOfASCII compares the quick way with the one for any term, to the last digit.
func TestGramsOfASCII(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(9, 9))
	for length := range maxGramsChars + 4 {
		for range 20 {
			var term strings.Builder
			for range length {
				term.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789_."[chance.IntN(38)])
			}
			var quick, slow sums
			value := chance.Float64()
			quick.addGrams(term.String(), value)
			slow.addAnyGrams(term.String(), value)
			if quick != slow {
				t.Fatalf("%q: the sums differ", term.String())
			}
		}
	}
}
