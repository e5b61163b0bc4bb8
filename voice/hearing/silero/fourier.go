package silero

import (
	"math"
	"math/bits"
)

const (
	window = 256          // samples of one Fourier transform
	bins   = window/2 + 1 // frequencies it gives
	hop    = window / 2   // samples between two transforms
)

// hann is the periodic Hann window; cosines and sines are those of the angles −2πk/window; reversed
// are the numbers 0..255 with their bits in reverse order.
var hann, cosines, sines, reversed = func() (h [window]float32, c, s [window / 2]float32, r [window]uint8) {
	for i := range window {
		h[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window))
		r[i] = bits.Reverse8(uint8(i))
	}
	for k := range window / 2 {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / window)
		c[k], s[k] = float32(cos), float32(sin)
	}
	return h, c, s, r
}()

// magnitudes writes the magnitudes of the spectra of two windows of samples. Both are transformed
// at once: one is the real part, the other the imaginary part.
func magnitudes(first, second []float32, firstOut, secondOut []float32) {
	var re, im [window]float32
	for i := range window {
		re[reversed[i]] = first[i] * hann[i]
		im[reversed[i]] = second[i] * hann[i]
	}
	transform(&re, &im)
	for k := range bins {
		// The transform of real samples is its own mirror image, which tells the two apart.
		other := (window - k) % window
		firstOut[k] = length(re[k]+re[other], im[k]-im[other]) / 2
		secondOut[k] = length(im[k]+im[other], re[other]-re[k]) / 2
	}
}

func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(x*x + y*y)))
}

// transform is the Fourier transform by radix 2 of samples that are in bit-reversed order.
func transform(re, im *[window]float32) {
	for half := 1; half < window; half *= 2 {
		step := window / 2 / half
		for start := 0; start < window; start += 2 * half {
			for k := range half {
				c, s := cosines[k*step], sines[k*step]
				i, j := start+k, start+k+half
				x, y := re[j]*c-im[j]*s, re[j]*s+im[j]*c
				re[j], im[j] = re[i]-x, im[i]-y
				re[i], im[i] = re[i]+x, im[i]+y
			}
		}
	}
}
