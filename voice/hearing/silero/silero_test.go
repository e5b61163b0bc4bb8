package silero_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"parlance.dev/parlance/voice/hearing/silero"
)

// TestReference compares the network with onnxruntime (make/reference.sh) over five seconds of
// speech and silence. The two add in different orders, and the recurrent state carries that along.
func TestReference(t *testing.T) {
	t.Parallel()
	samples, want := speech(t), reference(t)
	network := silero.New()
	for range 2 { // the second time after Reset
		var worst float64
		for frame, probability := range want {
			got := network.Step(samples[frame*silero.FrameSamples:])
			worst = max(worst, math.Abs(float64(got-probability)))
		}
		if worst > 1e-4 {
			t.Errorf("a probability differs by %g from onnxruntime's", worst)
		}
		network.Reset()
	}
}

// TestReferenceHasBoth guards TestReference: its recording has frames of speech and of silence.
func TestReferenceHasBoth(t *testing.T) {
	t.Parallel()
	var speech, silence int
	for _, probability := range reference(t) {
		if probability > 0.9 {
			speech++
		}
		if probability < 0.1 {
			silence++
		}
	}
	if speech < 50 || silence < 20 {
		t.Errorf("%d frames of speech and %d of silence", speech, silence)
	}
}

func BenchmarkStep(b *testing.B) {
	samples := speech(b)
	network := silero.New()
	frames := len(samples) / silero.FrameSamples
	at := 0
	for b.Loop() {
		network.Step(samples[at*silero.FrameSamples:])
		at = (at + 1) % frames
	}
}

func speech(t testing.TB) []int16 {
	t.Helper()
	raw, err := os.ReadFile("testdata/speech.s16")
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, len(raw)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return samples
}

func reference(t testing.TB) []float32 {
	t.Helper()
	raw, err := os.ReadFile("testdata/probabilities.f32")
	if err != nil {
		t.Fatal(err)
	}
	probabilities := make([]float32, len(raw)/4)
	for i := range probabilities {
		probabilities[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return probabilities
}
