package vector

import "math"

// lanes is how many partial sums Dot keeps, so that an addition need not wait for the one before.
const lanes = 8

// Dot is the product of two vectors of the same length. Of longer ones the rest is left out.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	// The conversions keep the compiler from fusing operations, which rounds differently.
	for ; len(a) >= lanes && len(b) >= lanes; a, b = a[lanes:], b[lanes:] {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
	}
	sum := ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
	for i, x := range a {
		sum += float32(x * b[i])
	}
	return sum
}

// Scale multiplies a vector by a number, in place.
func Scale(v []float32, by float32) {
	for i := range v {
		v[i] *= by
	}
}

// InverseLength is 1 / the length of a vector; 0 for a vector of no length.
func InverseLength(v []float32) float64 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return 0
	}
	return 1 / math.Sqrt(square)
}
