package endmodel

import (
	"math"
	"math/cmplx"
)

// fourier computes discrete Fourier transforms of windowSamples numbers, by the algorithm of Cooley
// and Tukey: 400 is 2·2·2·2·5·5.
type fourier struct {
	// roots are the powers of e^(−2πi/windowSamples).
	roots [windowSamples]complex128
}

func newFourier() *fourier {
	f := &fourier{}
	for i := range f.roots {
		f.roots[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/windowSamples)
	}
	return f
}

// transform writes the transform of every stride-th number of in to out. len(out) times stride is
// windowSamples.
func (f *fourier) transform(out, in []complex128, stride int) {
	switch n := len(out); {
	case n == 1:
		out[0] = in[0]
	case n%2 == 0:
		half := n / 2
		f.transform(out[:half], in, 2*stride)
		f.transform(out[half:], in[stride:], 2*stride)
		for k := range half {
			even, odd := out[k], out[half+k]*f.roots[k*stride]
			out[k], out[half+k] = even+odd, even-odd
		}
	default:
		fifth := n / 5
		for part := range 5 {
			f.transform(out[part*fifth:(part+1)*fifth], in[part*stride:], 5*stride)
		}
		for k := range fifth {
			f.joinFive(out[k:], fifth, k*stride)
		}
	}
}

// joinFive replaces five numbers, which are step apart, by their transform, after the part-th was
// turned by the root with the number part times turn. The roots of five are conjugates in pairs,
// which halves the multiplications.
func (f *fourier) joinFive(numbers []complex128, step, turn int) {
	c1, s1 := real(f.roots[windowSamples/5]), imag(f.roots[windowSamples/5])
	c2, s2 := real(f.roots[2*windowSamples/5]), imag(f.roots[2*windowSamples/5])
	x0, x1, x2 := numbers[0], numbers[step]*f.roots[turn], numbers[2*step]*f.roots[2*turn]
	x3, x4 := numbers[3*step]*f.roots[3*turn], numbers[4*step]*f.roots[4*turn]
	a, b, c, d := x1+x4, x1-x4, x2+x3, x2-x3
	even1, odd1 := x0+times(c1, a)+times(c2, c), times(s1, b)+times(s2, d)
	even2, odd2 := x0+times(c2, a)+times(c1, c), times(s2, b)-times(s1, d)
	odd1, odd2 = complex(-imag(odd1), real(odd1)), complex(-imag(odd2), real(odd2)) // times i
	numbers[0] = x0 + a + c
	numbers[step], numbers[4*step] = even1+odd1, even1-odd1
	numbers[2*step], numbers[3*step] = even2+odd2, even2-odd2
}

func times(factor float64, z complex128) complex128 { return complex(factor*real(z), factor*imag(z)) }
