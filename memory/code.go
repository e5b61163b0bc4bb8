package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"parlance.dev/parlance/platform/vector"
)

// codeBits is the length of the code of a vector. Source: sqlmigrations/0038, bit(512).
const (
	codeBits  = 512
	codeWords = codeBits / 64
)

// digest is a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// code is 512 bits. The first is the highest bit of the first word.
type code [codeWords]uint64

// codeOf makes the code of a vector: the signs of its numbers after a rotation that spreads its
// content evenly over all of them. Near vectors have codes that differ in few bits. The rotation is
// random signs and a Hadamard transform, twice. It must never change, because codes are stored.
func codeOf(v []float32) (c code) {
	width := max(codeBits, 1<<bits.Len(uint(max(len(v), 1)-1)))
	rotated := make([]float32, width)
	copy(rotated, v)
	state := uint64(width)
	for range 2 {
		for i := 0; i < width; i += 64 {
			signs := vector.SplitMix64(&state)
			for j := i; j < i+64; j++ {
				if signs>>(j-i)&1 == 1 {
					rotated[j] = -rotated[j]
				}
			}
		}
		vector.Hadamard(rotated, width)
	}
	for i := range codeBits {
		if rotated[i] > 0 {
			c[i/64] |= 1 << (63 - i%64)
		}
	}
	return c
}

// String formats a code as a bit(512) of Postgres.
func (c code) String() string {
	var b strings.Builder
	b.Grow(codeBits)
	for _, word := range c {
		fmt.Fprintf(&b, "%064b", word)
	}
	return b.String()
}

// modelVector is a vector and the model that made it.
type modelVector struct {
	model  string
	values []float32
}
