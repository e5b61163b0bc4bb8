package voicecorpus

import (
	"math"
	"math/rand/v2"

	"parlance.dev/parlance/test/voices"
)

const sampleRate = voices.RateHz

func samplesOf(ms int) int { return ms * sampleRate / 1000 }

func msOf(samples int) int { return samples * 1000 / sampleRate }

// generate makes samples from numbers between about −1 and 1.
func generate(ms int, next func(i int) float64) []int16 {
	samples := make([]int16, samplesOf(ms))
	for i := range samples {
		samples[i] = voices.Clip(8000 * next(i))
	}
	return samples
}

func pinkNoise(chance *rand.Rand, ms int) []int16 {
	return voices.PinkNoise(chance, samplesOf(ms))
}

func brownNoise(chance *rand.Rand, ms int) []int16 {
	var sum float64
	return generate(ms, func(int) float64 {
		sum = 0.998*sum + 0.05*chance.NormFloat64()
		return sum
	})
}

// music is chords of three notes with overtones, a beat of half a second, and a bass.
func music(chance *rand.Rand, ms int) []int16 {
	const beat = sampleRate / 2
	chords := [][3]float64{{261.6, 329.6, 392}, {220, 261.6, 329.6}, {174.6, 220, 261.6}, {196, 246.9, 293.7}}
	first := chance.IntN(len(chords))
	return generate(ms, func(i int) float64 {
		chord := chords[(first+i/(2*beat))%len(chords)]
		inBeat := float64(i%beat) / beat
		t := float64(i) / sampleRate
		var sum float64
		for _, note := range chord {
			for overtone := 1.0; overtone <= 5; overtone++ {
				sum += math.Sin(2*math.Pi*note*overtone*t) / (overtone * overtone)
			}
		}
		bass := math.Sin(2 * math.Pi * chord[0] / 4 * t)
		return 0.15 * (sum*math.Exp(-2*inBeat) + bass)
	})
}

// cough is one to three bursts of noise under a falling envelope, through a resonance of a throat.
func cough(chance *rand.Rand) []int16 {
	var all []int16
	for range 1 + chance.IntN(3) {
		length := 120 + chance.IntN(200)
		frequency := 400 + 500*chance.Float64()
		var a, b float64
		pole := 0.95
		burst := generate(length, func(i int) float64 {
			x := chance.NormFloat64() + 2*pole*math.Cos(2*math.Pi*frequency/sampleRate)*a - pole*pole*b
			a, b = x, a
			t := float64(i) / float64(samplesOf(length))
			return 0.1 * x * math.Min(1, 20*t) * math.Exp(-4*t)
		})
		all = append(all, burst...)
		all = append(all, make([]int16, samplesOf(60+chance.IntN(120)))...)
	}
	return all
}

// clicks are a few sounds of keys or of a phone that is put down.
func clicks(chance *rand.Rand) []int16 {
	var all []int16
	for range 2 + chance.IntN(5) {
		length := 5 + chance.IntN(20)
		all = append(all, generate(length, func(i int) float64 {
			return chance.NormFloat64() * math.Exp(-6*float64(i)/float64(samplesOf(length)))
		})...)
		all = append(all, make([]int16, samplesOf(80+chance.IntN(200)))...)
	}
	return all
}

// mix adds a sound to samples at a time, at a gain in dB.
func mix(into, sound []int16, atMS int, gainDB float64) {
	voices.Mix(into, sound, samplesOf(atMS), gainDB)
}
