package audio

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Resampler changes the rate of one stream. The output does not depend on how the input is cut into
// chunks. It is aligned with the input: the first output sample is at the time of the first input
// sample, and n input samples become n*to/from output samples, rounded up, once AppendFlush was
// called. Samples that would be louder than an int16 can hold are limited to it.
//
// Frequencies up to 0.85 of the highest that both rates can hold keep their level within 0.01 dB.
// At 8,000 Hz that is up to 3,400 Hz. Those that the lower rate cannot hold are lowered by 60 dB or
// more. The tests measure both.
type Resampler struct {
	fromHz, toHz int
	filter       *filter
	// window holds the inputs that outputs are still to be made of, the oldest first.
	window []float32
	// next is the index in window of the first input of the next output, and phase that output's
	// place between two inputs, in units of 1/filter.up.
	next, phase int
}

// maxPiece limits how many samples are put into the window at once, so that a large chunk does not
// make a stream's memory large for ever.
const maxPiece = 1024

// NewResampler makes a resampler between two rates of Formats. Other rates are an error. When both
// rates are the same, it copies.
func NewResampler(fromHz, toHz int) (*Resampler, error) {
	for _, rateHz := range []int{fromHz, toHz} {
		if !(Format{Encoding: PCM16, RateHz: rateHz}).IsKnown() {
			return nil, fmt.Errorf("resample from %d to %d Hz: %d is not a known rate", fromHz, toHz, rateHz)
		}
	}
	r := &Resampler{fromHz: fromHz, toHz: toHz}
	if fromHz != toHz {
		r.filter = filterOf(fromHz, toHz)
	}
	r.Reset()
	return r, nil
}

// Delay is how much input the newest output waits for: this much of the end of the input has not
// become output yet. It is 0 when the rates are the same, else at most 3.5 ms.
func (r *Resampler) Delay() time.Duration {
	if r.filter == nil {
		return 0
	}
	return Duration(r.filter.reach, r.fromHz)
}

// AppendResample appends the output that is complete with these samples to dst.
func (r *Resampler) AppendResample(dst, samples []int16) []int16 {
	if r.filter == nil {
		return append(dst, samples...)
	}
	dst = slices.Grow(dst, len(samples)*r.toHz/r.fromHz+1)
	for piece := range slices.Chunk(samples, maxPiece) {
		for _, sample := range piece {
			r.window = append(r.window, float32(sample))
		}
		dst = r.appendComplete(dst)
	}
	return dst
}

// AppendFlush appends the output of the end of the stream to dst, as if silence followed, and makes
// the resampler ready for another stream.
func (r *Resampler) AppendFlush(dst []int16) []int16 {
	if r.filter != nil {
		r.window = append(r.window, make([]float32, r.filter.reach)...)
		dst = r.appendComplete(dst)
	}
	r.Reset()
	return dst
}

// Reset forgets the stream: what comes next is another one.
func (r *Resampler) Reset() {
	if r.filter == nil {
		return
	}
	// Silence before the stream, as much as the first output reaches back.
	r.window = append(r.window[:0], make([]float32, r.filter.reach-1)...)
	r.next, r.phase = 0, 0
}

// appendComplete makes the outputs whose inputs are all in the window, and removes the inputs that
// no later output needs.
func (r *Resampler) appendComplete(dst []int16) []int16 {
	f := r.filter
	for r.next+2*f.reach <= len(r.window) {
		dst = append(dst, limit(dot(f.phases[r.phase], r.window[r.next:])))
		r.next += f.step
		r.phase += f.phaseStep
		if r.phase >= f.up {
			r.phase -= f.up
			r.next++
		}
	}
	kept := copy(r.window, r.window[r.next:])
	r.window, r.next = r.window[:kept], 0
	return dst
}

// dot is the sum of the products of coefficients and as many inputs. The number of coefficients is
// a multiple of four. Four sums at a time halve the time, as no addition waits for the one before.
func dot(coefficients, inputs []float32) float32 {
	inputs = inputs[:len(coefficients)]
	var a, b, c, d float32
	for len(coefficients) >= 4 && len(inputs) >= 4 {
		a += coefficients[0] * inputs[0]
		b += coefficients[1] * inputs[1]
		c += coefficients[2] * inputs[2]
		d += coefficients[3] * inputs[3]
		coefficients, inputs = coefficients[4:], inputs[4:]
	}
	return a + b + c + d
}

// limit rounds to the nearest int16.
func limit(value float32) int16 {
	switch {
	case value >= math.MaxInt16:
		return math.MaxInt16
	case value <= math.MinInt16:
		return math.MinInt16
	case value < 0:
		return int16(value - 0.5)
	}
	return int16(value + 0.5)
}
