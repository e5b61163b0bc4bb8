package audio_test

import (
	"math"
	"math/rand/v2"
)

// tone is a sine of a frequency; amplitude 1 is the loudest.
func tone(frequencyHz, amplitude float64, rateHz, samples int) []int16 {
	sound := make([]int16, samples)
	for i := range sound {
		phase := 2 * math.Pi * frequencyHz * float64(i) / float64(rateHz)
		sound[i] = int16(math.Round(math.MaxInt16 * amplitude * math.Sin(phase)))
	}
	return sound
}

// noise is white noise, different for each seed.
func noise(seed uint64, samples int) []int16 {
	random := rand.New(rand.NewPCG(seed, 0))
	sound := make([]int16, samples)
	for i := range sound {
		sound[i] = int16(random.Uint32())
	}
	return sound
}

// amplitudeOf is the amplitude of the sine of a frequency in a sound, where 1 is the loudest, and
// the root mean square of everything else (Goertzel's measure, by its definition). The sound must
// hold whole periods.
func amplitudeOf(frequencyHz float64, rateHz int, sound []int16) (amplitude, rest float64) {
	var sine, cosine float64
	value := func(i int) (s, c float64) {
		return math.Sincos(2 * math.Pi * frequencyHz * float64(i) / float64(rateHz))
	}
	for i, sample := range sound {
		s, c := value(i)
		sine += float64(sample) * s
		cosine += float64(sample) * c
	}
	sine, cosine = 2*sine/float64(len(sound)), 2*cosine/float64(len(sound))
	energy := 0.0
	for i, sample := range sound {
		s, c := value(i)
		energy += math.Pow(float64(sample)-sine*s-cosine*c, 2)
	}
	return math.Hypot(sine, cosine) / math.MaxInt16, math.Sqrt(energy/float64(len(sound))) / math.MaxInt16
}

func decibels(ratio float64) float64 { return 20 * math.Log10(ratio) }
