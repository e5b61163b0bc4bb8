package audio

import (
	"math"
	"sync"
)

// The filter is a sinc, the ideal low pass, cut to a finite length by a Kaiser window. With h the
// half of the lower of the two rates, which is the highest frequency that both rates can hold:
//
//	0 … 0.85 h   passes, within 0.01 dB. At 8,000 Hz that is 3,400 Hz, the telephone's band.
//	0.85 h … h   falls
//	above h      is at least 60 dB lower: it would turn into a frequency below h (aliasing).
//
// A narrower fall or a deeper stop needs a longer filter, and the time is in proportion to it.
const (
	passEdge = 0.85
	// stopDB leaves room for the rounding to int16 in the 60 dB that are promised.
	stopDB = 65.0
)

// filter holds the coefficients for one ratio of rates. An output lies at one of a few places
// between two inputs, its phase, and each phase has coefficients of its own. A filter is never
// changed.
type filter struct {
	// up is the number of phases: the output's rate in the lowest terms of the ratio.
	up int
	// The next output is step inputs and phaseStep/up of an input further on.
	step, phaseStep int
	// reach is how many inputs on each side an output is made of. It is even, so that the number of
	// coefficients of a phase is a multiple of four.
	reach int
	// phases has 2*reach coefficients for each phase.
	phases [][]float32
}

// filters keeps the filter of each pair of rates (a [2]int) that was used. There are at most as
// many as pairs of known rates.
var filters sync.Map

func filterOf(fromHz, toHz int) *filter {
	key := [2]int{fromHz, toHz}
	if known, ok := filters.Load(key); ok {
		return known.(*filter) //nolint:errcheck // only filters are stored
	}
	made, _ := filters.LoadOrStore(key, newFilter(fromHz, toHz))
	return made.(*filter) //nolint:errcheck // as above
}

// newFilter designs a filter by Kaiser's formulas (Oppenheim and Schafer, Discrete-Time Signal
// Processing, section 7.5.3).
func newFilter(fromHz, toHz int) *filter {
	divisor := greatestCommonDivisor(fromHz, toHz)
	up, down := toHz/divisor, fromHz/divisor
	f := &filter{up: up, step: down / up, phaseStep: down % up}
	lower := float64(min(fromHz, toHz)) / float64(fromHz) // the lower rate, in samples each input
	fall := math.Pi * (1 - passEdge) * lower              // the width of the fall, in radians
	length := (stopDB - 7.95) / (2.285 * fall)
	halfLength := length / 2
	f.reach = 2 * int(math.Ceil(halfLength/2))
	cutoff := lower * (1 + passEdge) / 2 // the middle of the fall; 1 is half the input's rate
	beta := 0.1102 * (stopDB - 8.7)

	f.phases = make([][]float32, f.up)
	for phase := range f.phases {
		exact := make([]float64, 2*f.reach)
		sum := 0.0
		for tap := range exact {
			// How far the input is from the output, in inputs.
			distance := float64(tap-f.reach+1) - float64(phase)/float64(f.up)
			exact[tap] = sinc(cutoff*distance) * kaiser(distance/halfLength, beta)
			sum += exact[tap]
		}
		f.phases[phase] = make([]float32, len(exact))
		for tap, coefficient := range exact {
			f.phases[phase][tap] = float32(coefficient / sum) // a constant input stays what it is
		}
	}
	return f
}

func greatestCommonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x, which is -1 and 1 at its ends, but for a factor: newFilter makes the
// sum of the coefficients 1.
func kaiser(x, beta float64) float64 {
	if math.Abs(x) > 1 {
		return 0
	}
	return besselI0(beta * math.Sqrt(1-x*x))
}

// besselI0 is the modified Bessel function of the first kind of order 0, by its power series.
func besselI0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= (x / 2 / k) * (x / 2 / k)
		sum += term
	}
	return sum
}
