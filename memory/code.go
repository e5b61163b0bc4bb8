package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"parlance.dev/parlance/platform/vector"
)

// codeBits is the length of a vector's code. Source: sqlmigrations/0038, bit(512).
const codeBits = 512

// digest is a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// code is 512 bits, the first the highest of the first number.
type code [codeWords]uint64

// codeOf is the signs of some of a vector's numbers after a rotation that spreads what it says
// evenly over all of them: vectors that are near have codes that differ in few bits. A search
// compares those of all memories of a user, and the vectors of the nearest only (codes.go). The
// rotation is twice signs and a Hadamard transform, and must stay as it is for ever: codes are
// stored.
func codeOf(v []float32) (c code) {
	width := max(codeBits, 1<<bits.Len(uint(max(len(v), 1)-1))) //nolint:gosec // positive
	turned := make([]float32, width)
	copy(turned, v)
	state := uint64(width) //nolint:gosec // positive
	for range 2 {
		for i := 0; i < width; i += 64 {
			signs := vector.SplitMix64(&state)
			for j := i; j < i+64; j++ {
				if signs>>(j-i)&1 == 1 {
					turned[j] = -turned[j]
				}
			}
		}
		vector.Hadamard(turned, width)
	}
	for i := range codeBits {
		if turned[i] > 0 {
			c[i/64] |= 1 << (63 - i%64)
		}
	}
	return c
}

// String is the code as Postgres reads a bit(512).
func (c code) String() string {
	var b strings.Builder
	b.Grow(codeBits)
	for _, word := range c {
		fmt.Fprintf(&b, "%064b", word)
	}
	return b.String()
}
