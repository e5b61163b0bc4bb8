package endmodel

import (
	"math"
	"math/cmplx"
	"testing"
)

// sound makes 16 kHz audio of any length.
func sound(samples int, amplitude func(second float64) float64) []int16 {
	audio := make([]int16, samples)
	for i := range audio {
		audio[i] = int16(math.Round(32767 * amplitude(float64(i)/sampleRate)))
	}
	return audio
}

func tone(samples int, hz, amplitude float64) []int16 {
	return sound(samples, func(second float64) float64 { return amplitude * math.Sin(2*math.Pi*hz*second) })
}

func featuresOf(audio []int16) []float32 {
	into := make([]float32, featureCount)
	newSpectrogram().compute(into, audio)
	return into
}

// TestFourier compares the transform with its definition.
func TestFourier(t *testing.T) {
	t.Parallel()
	in, out := make([]complex128, windowSamples), make([]complex128, windowSamples)
	for i := range in {
		in[i] = complex(float64(i*i%37)-18, float64(i*i*i%41)-20)
	}
	newFourier().transform(out, in, 1)
	for k := range out {
		var want complex128
		for i, x := range in {
			want += x * cmplx.Rect(1, -2*math.Pi*float64(k*i%windowSamples)/windowSamples)
		}
		if cmplx.Abs(out[k]-want) > 1e-9 {
			t.Fatalf("number %d is %v, want %v", k, out[k], want)
		}
	}
}

// TestSilence: nothing is at the floor of 1e-10, and (−10+4)/4 is −1.5. So is a constant, whose
// mean is taken away.
func TestSilence(t *testing.T) {
	t.Parallel()
	constant := make([]int16, maxSamples)
	for i := range constant {
		constant[i] = 1000
	}
	for name, audio := range map[string][]int16{"nothing": nil, "zeros": make([]int16, 4000), "a constant": constant} {
		for i, x := range featuresOf(audio) {
			if x != -1.5 {
				t.Errorf("%s: feature %d is %g, want -1.5", name, i, x)
				break
			}
		}
	}
}

// TestTone: the energy of a tone is in the band around its frequency. The bands' centres are at
// equal distances of 45.2456/81 mel: the 27th is at 15.08 mel, about 1 kHz. The others are counted
// alike.
func TestTone(t *testing.T) {
	t.Parallel()
	for hz, want := range map[float64]int{1000: 26, 200: 4, 4000: 62, 6600: 75} {
		features := featuresOf(tone(maxSamples, hz, 0.3))
		loudest := 0
		for b := range melBands {
			if features[b*frames+400] > features[loudest*frames+400] {
				loudest = b
			}
		}
		if loudest != want {
			t.Errorf("the loudest band of %g Hz is %d, want %d", hz, loudest, want)
		}
		for _, b := range []int{want - 3, want + 3} {
			if got := features[b*frames+400]; got > features[want*frames+400]-0.5 {
				t.Errorf("%g Hz: band %d is at %g, the loudest at %g", hz, b, got, features[want*frames+400])
			}
		}
	}
}

// TestTonePower: a tone has the power 1 after the normalization. 25 periods of it in a window give
// |X|² = 2·(400/4)² at their bin, and by Hann's window a quarter of that at both neighbours. What
// band 26 makes of these three is computed from its edges.
func TestTonePower(t *testing.T) {
	t.Parallel()
	edge := func(i float64) float64 { return 1000 * math.Exp((i*45.245640471924965/81-15)*math.Log(6.4)/27) }
	low, centre, high := 26*45.245640471924965/81*200/3, edge(27), edge(28)
	power := 0.0
	for hz, share := range map[float64]float64{960: 0.25, 1000: 1, 1040: 0.25} {
		power += share * 20_000 * max(0, min((hz-low)/(centre-low), (high-hz)/(high-centre))) * 2 / (high - low)
	}
	want := (math.Log10(power) + 4) / 4
	if got := float64(featuresOf(tone(maxSamples, 1000, 0.3))[26*frames+400]); math.Abs(got-want) > 1e-4 {
		t.Errorf("band 26 is at %g, want %g", got, want)
	}
}

// TestLoudness: how loud audio is makes no difference, nor does what was before the last 8 s; the
// range is 8 powers of ten, which are 2 after the division by 4.
func TestLoudness(t *testing.T) {
	t.Parallel()
	wave := func(second float64) float64 {
		return math.Sin(2*math.Pi*300*second)*math.Exp(-second) + 0.2*math.Sin(2*math.Pi*2600*second*second/8)
	}
	loud := sound(maxSamples, func(second float64) float64 { return 0.8 * wave(second) })
	soft := sound(maxSamples, func(second float64) float64 { return 0.2 * wave(second) })
	want, got := featuresOf(loud), featuresOf(soft)
	lowest, highest := want[0], want[0]
	for i := range want {
		lowest, highest = min(lowest, want[i]), max(highest, want[i])
		// Soft audio has the coarser steps, which are heard where there is nothing else.
		if want[i] > highest-1 && math.Abs(float64(want[i]-got[i])) > 0.01 {
			t.Fatalf("feature %d is %g of loud audio and %g of soft", i, want[i], got[i])
		}
	}
	if highest-lowest > 2 {
		t.Errorf("the features are from %g to %g", lowest, highest)
	}
	longer := append(tone(5000, 440, 0.9), loud...)
	for i, x := range featuresOf(longer) {
		if x != want[i] {
			t.Fatalf("what was before the last 8 s changes feature %d", i)
		}
	}
}

// TestShortAudio: less than 8 s ends where 8 s end, and silence is before it.
func TestShortAudio(t *testing.T) {
	t.Parallel()
	features := featuresOf(tone(2*sampleRate, 1000, 0.3))
	for _, row := range []struct {
		frame int
		loud  bool
	}{{0, false}, {300, false}, {590, false}, {610, true}, {700, true}, {799, true}} {
		// The mean of 8 s is 0 here, so silence stays silent: it is at the bottom of the range.
		if got := features[26*frames+row.frame] > 1; got != row.loud {
			t.Errorf("frame %d: loud is %t, want %t", row.frame, got, row.loud)
		}
	}
}

// TestReference compares features of a made-up signal with what the extractor of Pipecat
// (compute_whisper_log_mel_features, numpy) makes of the same samples.
func TestReference(t *testing.T) {
	t.Parallel()
	audio := reference()
	features := featuresOf(audio)
	for _, want := range referenceFeatures {
		if got := features[want.band*frames+want.frame]; math.Abs(float64(got)-want.value) > 2e-4 {
			t.Errorf("band %d, frame %d is %g, want %g", want.band, want.frame, got, want.value)
		}
	}
}

// BenchmarkSpectrogram: 8 s are to take well under the 12 ms that the network takes.
func BenchmarkSpectrogram(b *testing.B) {
	s, into, audio := newSpectrogram(), make([]float32, featureCount), reference()
	for b.Loop() {
		s.compute(into, audio)
	}
}
