package search

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"parlance.dev/parlance/platform/vector"
)

// A vector's code is a bit for each of its numbers, after a rotation that spreads what it says
// evenly over all of them, and less the mean of its set's vectors, which says what they have in
// common. Source: Gao and Long, RaBitQ, SIGMOD 2024.

const (
	// codesVersion changes whenever a code does: codes of another version are made anew.
	codesVersion = 1
	wordBits     = 64
)

// rotation is a fixed rotation of vectors of one length: twice signs, an order and a Hadamard
// transform of each block. It pads to whole words.
type rotation struct {
	width, block int
	signs        [2][]float32
	order        []int
}

// widthOf is how many numbers a vector of a dimension has when it is rotated.
func widthOf(dimension int) int {
	width := (dimension + wordBits - 1) / wordBits * wordBits
	if width&-width < 4*wordBits { // blocks that small would mix too little
		width = max(wordBits, 1<<bits.Len(uint(width-1)))
	}
	return width
}

// rotationOf makes the rotation of a dimension.
func rotationOf(dimension int) rotation {
	width := widthOf(dimension)
	r := rotation{width: width, block: width & -width, order: make([]int, width)}
	state := uint64(dimension)
	for round := range r.signs {
		r.signs[round] = make([]float32, width)
		for i := range width {
			r.signs[round][i] = float32(1 - 2*int(vector.SplitMix64(&state)&1))
		}
	}
	for i := range width {
		j := int(vector.SplitMix64(&state) % uint64(i+1))
		r.order[i], r.order[j] = r.order[j], i
	}
	return r
}

// rotate returns v, rotated and multiplied by scale.
func (r rotation) rotate(v []float32, scale float64) []float32 {
	mixed, out := make([]float32, r.width), make([]float32, r.width)
	each := float32(scale / float64(r.block)) // each transform is √block too long
	for i, x := range v {
		mixed[i] = x * each * r.signs[0][i]
	}
	vector.Hadamard(mixed, r.block)
	for i, from := range r.order {
		out[i] = mixed[from] * r.signs[1][i]
	}
	vector.Hadamard(out, r.block)
	return out
}

// codes are those of a set's chunks, in their order.
type codes struct {
	mean []float32
	// offsets are the products of the mean and what is left of each vector without it.
	offsets []float32
	// scales turn the product of a code and a question, less the mean, into that of what is left of
	// the vector.
	scales []float32
	// signs are len(mean)/wordBits words a chunk.
	signs []uint64
}

// bytes is what the codes take in memory.
func (c *codes) bytes() int {
	return 4*(len(c.mean)+len(c.offsets)+len(c.scales)) + 8*len(c.signs)
}

// encode makes the codes of vectors of one length, packed: the mean, and for each vector its
// offset, scale and signs.
func encode(vectors [][]float32) []byte {
	r := rotationOf(len(vectors[0]))
	sum := make([]float32, len(vectors[0]))
	for _, v := range vectors {
		scale := float32(vector.InverseLength(v))
		for j, x := range v {
			sum[j] += x * scale
		}
	}
	mean := r.rotate(sum, 1/float64(len(vectors)))
	packed := make([]byte, 0, codesSize(len(vectors), r.width))
	for _, x := range mean {
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
	}
	signs := make([]uint64, r.width/wordBits)
	for _, v := range vectors {
		clear(signs)
		var offset, square, sum float32
		for j, x := range r.rotate(v, vector.InverseLength(v)) {
			x -= mean[j]
			offset += x * mean[j]
			if x > 0 {
				signs[j/wordBits] |= 1 << (j % wordBits)
			}
			square += x * x
			sum += max(x, -x)
		}
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(offset))
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(square/max(sum, math.SmallestNonzeroFloat32)))
		for _, word := range signs {
			packed = binary.LittleEndian.AppendUint64(packed, word)
		}
	}
	return packed
}

// codesSize is how many bytes the packed codes of so many chunks have.
func codesSize(chunks, width int) int { return 4*width + chunks*(8+width/8) }

var errCodes = errors.New("packed codes cannot be read")

// decode reads the codes of a set's chunks, of vectors of one length.
func decode(packed []byte, chunks, dimension int) (*codes, error) {
	width := widthOf(dimension)
	if len(packed) != codesSize(chunks, width) {
		return nil, errCodes
	}
	c := &codes{
		mean: make([]float32, width), offsets: make([]float32, chunks), scales: make([]float32, chunks),
		signs: make([]uint64, 0, chunks*width/wordBits),
	}
	float := func() (x float32) {
		x, packed = math.Float32frombits(binary.LittleEndian.Uint32(packed)), packed[4:]
		return x
	}
	for i := range c.mean {
		c.mean[i] = float()
	}
	for i := range c.scales {
		c.offsets[i], c.scales[i] = float(), float()
		for range width / wordBits {
			c.signs, packed = append(c.signs, binary.LittleEndian.Uint64(packed)), packed[8:]
		}
	}
	return c, nil
}
