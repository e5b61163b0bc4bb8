package knowledge

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"parlance.dev/parlance/platform/vector"
)

// A vector's code is a bit for each of its numbers, after a rotation that spreads what it says evenly
// over all of them and less the mean of its source's vectors, which says what they have in common. A
// question is compared with the codes of all chunks in memory, some 25 ns each, and with the vectors
// of the best few hundred only. Source: Gao and Long, RaBitQ, SIGMOD 2024.

const (
	// codesVersion changes whenever a code does: codes of another are made anew.
	codesVersion = 1
	// questionBits are those of a number of the question, its sign included.
	questionBits = 4
	wordBits     = 64
)

// rotation is a fixed rotation of vectors of one length: twice signs, an order and a Hadamard
// transform of each block. It pads to whole words.
type rotation struct {
	width, block int
	signs        [2][]float32
	order        []int
}

// rotations are those that were made, by dimension: there are as many as models.
var rotations sync.Map

// rotationOf is the rotation of a dimension; nobody changes it.
func rotationOf(dimension int) rotation {
	made, there := rotations.Load(dimension)
	if !there {
		made, _ = rotations.LoadOrStore(dimension, newRotation(dimension))
	}
	return made.(rotation) //nolint:errcheck,forcetypeassert // nothing else is stored
}

func newRotation(dimension int) rotation {
	width := (dimension + wordBits - 1) / wordBits * wordBits
	if width&-width < 4*wordBits { // blocks that small would mix too little
		width = max(wordBits, 1<<bits.Len(uint(width-1))) //nolint:gosec // positive
	}
	r := rotation{width: width, block: width & -width, order: make([]int, width)}
	state := uint64(dimension) //nolint:gosec // positive
	for round := range r.signs {
		r.signs[round] = make([]float32, width)
		for i := range width {
			r.signs[round][i] = float32(1 - 2*int(vector.Mix(&state)&1))
		}
	}
	for i := range width {
		j := int(vector.Mix(&state) % uint64(i+1)) //nolint:gosec // small
		r.order[i], r.order[j] = r.order[j], i
	}
	return r
}

// turn is the rotated vector times a number, in out, which must be as wide as the rotation.
// mixed, as wide, is for what is in between.
func (r rotation) turn(v []float32, times float64, out, mixed []float32) {
	scale := float32(times / float64(r.block)) // each transform is √block too long
	clear(mixed)
	for i, x := range v {
		mixed[i] = x * scale * r.signs[0][i]
	}
	vector.Hadamard(mixed, r.block)
	for i, from := range r.order {
		out[i] = mixed[from] * r.signs[1][i]
	}
	vector.Hadamard(out, r.block)
}

// toUnit is what makes a vector one of length 1; 0 for one of no length.
func toUnit(vector []float32) float64 {
	var square float64
	for _, x := range vector {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return 0
	}
	return 1 / math.Sqrt(square)
}

// codes are those of a source's chunks, in their order.
type codes struct {
	mean []float32
	// offsets are the products of the mean and what is left of each vector without it.
	offsets []float32
	// scales make a code's product with a question, less the mean, that of what is left of the vector.
	scales []float32
	// signs are words a chunk; none where they are laid out, which costs some time once.
	signs []uint64
	laid  vector.Signs
}

// layOut has the codes compared quicker, where the processor can.
func (c *codes) layOut() {
	if laid := vector.NewSigns(c.signs, len(c.mean)/wordBits); laid.Any() {
		c.laid, c.signs = laid, nil
	}
}

// encode makes the codes of vectors of one length, packed: the mean, and for each its offset, scale
// and signs.
func encode(vectors [][]float32) []byte {
	r := rotationOf(len(vectors[0]))
	sum := make([]float32, len(vectors[0]))
	for _, vector := range vectors {
		scale := float32(toUnit(vector))
		for j, x := range vector {
			sum[j] += x * scale
		}
	}
	mean, rotated, mixed := make([]float32, r.width), make([]float32, r.width), make([]float32, r.width)
	r.turn(sum, 1/float64(len(vectors)), mean, mixed)
	packed := make([]byte, 0, codesSize(len(vectors), r.width))
	for _, x := range mean {
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
	}
	signs := make([]uint64, r.width/wordBits)
	for _, vector := range vectors {
		r.turn(vector, toUnit(vector), rotated, mixed)
		clear(signs)
		var offset, square, sum float32
		for j, x := range rotated {
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

// codesSize is how many bytes the codes of so many chunks have, packed or not.
func codesSize(chunks, width int) int { return 4*width + chunks*(8+width/8) }

var errCodes = errors.New("packed codes cannot be read")

// decode reads the codes of a source's chunks, of vectors of one length.
func decode(packed []byte, chunks, dimension int) (codes, error) {
	width := rotationOf(dimension).width
	if len(packed) != codesSize(chunks, width) {
		return codes{}, errCodes
	}
	c := codes{
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

// codedQuestion is a question to compare with codes. Not for use by several at once.
type codedQuestion struct {
	rotated []float32
	// less is the question less the mean of the source at hand, steps its numbers, rounded.
	less  []float32
	steps []int8
	// planes are the bits of the steps, lowest first, of each word; the last is the sign's. weights are the steps for
	// signs that are laid out.
	planes  [][questionBits]uint64
	weights vector.Weights
	sums    []int32
}

func newCodedQuestion(question []float32) codedQuestion {
	var q codedQuestion
	q.ask(question)
	return q
}

// ask makes it another question.
func (q *codedQuestion) ask(question []float32) {
	r := rotationOf(len(question))
	q.rotated, q.less = sized(q.rotated, r.width), sized(q.less, r.width)
	q.steps, q.planes = sized(q.steps, r.width), sized(q.planes, r.width/wordBits)
	r.turn(question, toUnit(question), q.rotated, q.less) // which is made anew for each source
}

// sized is a slice of n of whatever, the same one if it is large enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// center makes the steps of the question less a mean: what a step is worth, the sum of all, and the product of
// the question and the mean.
func (q *codedQuestion) center(mean []float32) (unit float32, sum int, base float32) {
	var most float32
	for i, x := range q.rotated {
		base += x * mean[i]
		less := x - mean[i]
		q.less[i] = less
		if most < less { // max would look for what is no number, which takes most of the time here
			most = less
		} else if most < -less {
			most = -less
		}
	}
	const steps = 1<<(questionBits-1) - 1
	if unit = most / steps; unit == 0 {
		clear(q.steps)
		return unit, sum, base
	}
	each := 1 / unit
	for i, x := range q.less {
		step := int(x*each+steps+1.5) - steps - 1 // rounded
		sum += step
		q.steps[i] = int8(step) //nolint:gosec // -7 to 7
	}
	return unit, sum, base
}

// slice makes the planes of the steps.
func (q *codedQuestion) slice() {
	for word := range q.planes {
		var planes [questionBits]uint64
		for i, step := range q.steps[word*wordBits : (word+1)*wordBits] {
			for bit := range planes {
				planes[bit] |= uint64(step>>bit&1) << i //nolint:gosec // a bit
			}
		}
		q.planes[word] = planes
	}
}

// compare adds each chunk's similarity, as far as the codes tell it.
func (q *codedQuestion) compare(similarities []float32, c codes) []float32 {
	unit, sum, base := q.center(c.mean)
	const block = 32 // sums come in blocks
	q.sums = sized(q.sums, len(c.scales)+block)
	if c.laid.Any() {
		q.weights.Set(q.steps)
		c.laid.Sums(&q.weights, q.sums)
	} else {
		q.slice()
		q.addPlanes(c.signs)
	}
	offsets, sums := c.offsets[:len(c.scales)], q.sums[:len(c.scales)]
	for chunk, scale := range c.scales {
		similarities = append(similarities, base+offsets[chunk]+scale*unit*float32(2*int(sums[chunk])-sum))
	}
	return similarities
}

// addPlanes makes each chunk's sum of the question's steps where the sign is positive.
func (q *codedQuestion) addPlanes(signs []uint64) {
	planes := q.planes
	for chunk := 0; len(signs) >= len(planes) && len(planes) > 0; chunk++ {
		set := 0
		for i, word := range signs[:len(planes)] {
			p := &planes[i]
			set += bits.OnesCount64(word&p[0]) + bits.OnesCount64(word&p[1])<<1 +
				bits.OnesCount64(word&p[2])<<2 - bits.OnesCount64(word&p[3])<<3
		}
		signs = signs[len(planes):]
		q.sums[chunk] = int32(set) //nolint:gosec // at most 8 a bit
	}
}
