package vector

// lanes are summed side by side and then folded.
const lanes = 32

// Dot is the product of two vectors of one length. If they are of two, the shorter one's counts.
func Dot(a, b []float32) float32 { return DotBefore(a, b, nil) }

// DotBefore is Dot, before that of a vector as long which comes from memory meanwhile: of many, where the next ones cannot
// be foreseen by the processor, each waits for it otherwise.
func DotBefore(a, b, soon []float32) float32 {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	whole := n / lanes * lanes
	sum := dot(a[:whole], b[:whole], soon)
	for i, x := range a[whole:] {
		sum += float32(x * b[whole+i]) // the conversion keeps the compiler from fusing, which rounds otherwise
	}
	return sum
}

// dotPlain is dot without the processor's own instructions: of a multiple of 32 numbers.
func dotPlain(a, b []float32) float32 {
	var s [lanes]float32
	for ; len(a) >= lanes && len(b) >= lanes; a, b = a[lanes:], b[lanes:] {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		for i := range s {
			s[i] += float32(x[i] * y[i])
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}
