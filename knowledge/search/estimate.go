package search

import (
	"math/bits"

	"parlance.dev/parlance/platform/vector"
)

// stepBits are those of a number of the question, its sign included, when it is compared with
// codes.
const stepBits = 4

// estimator tells from codes about how similar chunks are to a question. It is for one goroutine.
type estimator struct {
	rotated []float32
	// steps are the numbers of the question less a set's mean, rounded.
	steps []int8
	// planes are the bits of the steps, lowest first, of each word; the last is the sign's.
	planes [][stepBits]uint64
}

// newEstimator makes the estimator of a question.
func newEstimator(question []float32) *estimator {
	r := rotationOf(len(question))
	return &estimator{
		rotated: r.rotate(question, vector.InverseLength(question)),
		steps:   make([]int8, r.width), planes: make([][stepBits]uint64, r.width/wordBits),
	}
}

// estimate returns the similarity of each chunk, as far as the codes tell it.
func (e *estimator) estimate(c *codes) []float32 {
	unit, sum, base := e.round(c.mean)
	e.slice()
	similarities := make([]float32, 0, len(c.scales))
	signs, offsets := c.signs, c.offsets[:len(c.scales)]
	for chunk, scale := range c.scales {
		positive := 0
		for i, word := range signs[:len(e.planes)] {
			p := &e.planes[i]
			positive += bits.OnesCount64(word&p[0]) + bits.OnesCount64(word&p[1])<<1 +
				bits.OnesCount64(word&p[2])<<2 - bits.OnesCount64(word&p[3])<<3
		}
		signs = signs[len(e.planes):]
		similarities = append(similarities, base+offsets[chunk]+scale*unit*float32(2*positive-sum))
	}
	return similarities
}

// round makes the steps of the question less a mean. It returns what a step is worth, the sum of
// all steps, and the product of the question and the mean.
func (e *estimator) round(mean []float32) (unit float32, sum int, base float32) {
	var most float32
	for i, x := range e.rotated {
		base += x * mean[i]
		if less := x - mean[i]; less > most { // max is slower: it looks for NaN
			most = less
		} else if -less > most {
			most = -less
		}
	}
	const steps = 1<<(stepBits-1) - 1
	if unit = most / steps; unit == 0 {
		clear(e.steps)
		return unit, sum, base
	}
	each := 1 / unit
	for i, x := range e.rotated {
		step := int((x-mean[i])*each+steps+1.5) - steps - 1 // rounded to the nearest
		sum += step
		e.steps[i] = int8(step)
	}
	return unit, sum, base
}

// slice makes the planes of the steps.
func (e *estimator) slice() {
	for word := range e.planes {
		var planes [stepBits]uint64
		for i, step := range e.steps[word*wordBits : (word+1)*wordBits] {
			for bit := range planes {
				planes[bit] |= uint64(step>>bit&1) << i
			}
		}
		e.planes[word] = planes
	}
}
