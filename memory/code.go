package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"math/bits"
	"strings"
)

// codeBits is the length of a vector's code. Source: sqlmigrations/0038, bit(512).
const codeBits = 512

// digest is a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// codeOf is the signs of some of a vector's numbers after a rotation that spreads what it says evenly over
// all of them: vectors that are near have codes that differ in few bits. Postgres compares
// those of all memories of a user, and the vectors of the nearest only (BenchmarkSearch). The rotation is
// twice signs and a Hadamard transform, and must stay as it is for ever: codes are stored.
func codeOf(vector []float32) string {
	width := max(codeBits, 1<<bits.Len(uint(max(len(vector), 1)-1))) //nolint:gosec // positive
	turned := make([]float32, width)
	copy(turned, vector)
	state := uint64(width) //nolint:gosec // positive
	for range 2 {
		for i := 0; i < width; i += 64 {
			signs := mix(&state)
			for j := i; j < i+64; j++ {
				if signs>>(j-i)&1 == 1 {
					turned[j] = -turned[j]
				}
			}
		}
		for half := 1; half < width; half *= 2 {
			for i := 0; i < width; i += 2 * half {
				low, high := turned[i:i+half], turned[i+half:i+2*half]
				for j, x := range low {
					y := high[j]
					low[j], high[j] = x+y, x-y
				}
			}
		}
	}
	var b strings.Builder
	b.Grow(codeBits)
	for i := range codeBits {
		if turned[i] > 0 {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String()
}

// mix is SplitMix64.
func mix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
