package voices

import (
	"math"
	"math/rand/v2"
)

// PinkNoise is noise whose level falls by 3 dB an octave, at any rate.
func PinkNoise(chance *rand.Rand, samples int) []int16 {
	var low, middle, high float64 // three one-pole filters stand for the slope
	noise := make([]int16, samples)
	for i := range noise {
		white := chance.NormFloat64()
		low = 0.99765*low + 0.0990460*white
		middle = 0.963*middle + 0.2965164*white
		high = 0.57*high + 1.0526913*white
		noise[i] = Clip(8000 * (0.1 * (low + middle + high + 0.1848*white)))
	}
	return noise
}

// Mix adds a sound to samples from a sample on, at a gain in dB. What goes beyond their end is left
// out.
func Mix(into, sound []int16, at int, gainDB float64) {
	gain := math.Pow(10, gainDB/20)
	for i := 0; i < len(sound) && at < len(into); i, at = i+1, at+1 {
		into[at] = Clip(float64(into[at]) + gain*float64(sound[i]))
	}
}

func powerOf(samples []int16) float64 {
	var sum float64
	for _, sample := range samples {
		x := float64(sample) / 32768
		sum += x * x
	}
	return sum / float64(max(len(samples), 1))
}

// AtLevel scales samples to a level in dB of full scale.
func AtLevel(samples []int16, levelDB float64) []int16 {
	gain := math.Pow(10, levelDB/20) / math.Sqrt(powerOf(samples)+1e-12)
	scaled := make([]int16, len(samples))
	for i, sample := range samples {
		scaled[i] = Clip(float64(sample) * gain)
	}
	return scaled
}

// Clip is the nearest sample.
func Clip(x float64) int16 {
	return int16(min(max(math.Round(x), -32768), 32767))
}
