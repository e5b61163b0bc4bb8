package vad_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"parlance.dev/parlance/voice/hearing/silero"
	"parlance.dev/parlance/voice/hearing/vad"
)

const rate = 16_000

type detector interface {
	Detect(samples []int16) vad.Frame
}

// detect returns the frames of samples.
func detect(d detector, samples []int16) []vad.Frame {
	var frames []vad.Frame
	for ; len(samples) >= vad.FrameSamples; samples = samples[vad.FrameSamples:] {
		frames = append(frames, d.Detect(samples[:vad.FrameSamples]))
	}
	return frames
}

// noise is white noise at a level in dB of full scale.
func noise(ms int, levelDB float64) []int16 {
	chance := rand.New(rand.NewPCG(1, 2))
	samples := make([]int16, ms*rate/1000)
	for i := range samples {
		samples[i] = int16(32768 * math.Pow(10, levelDB/20) * chance.NormFloat64())
	}
	return samples
}

// chord is music: three notes with overtones, struck each half second.
func chord(ms int) []int16 {
	samples := make([]int16, ms*rate/1000)
	for i := range samples {
		at := float64(i) / rate
		var sum float64
		for _, note := range []float64{261.6, 329.6, 392} {
			for overtone := 1.0; overtone <= 4; overtone++ {
				sum += math.Sin(2*math.Pi*note*overtone*at) / (overtone * overtone)
			}
		}
		samples[i] = int16(4000 * sum * math.Exp(-2*math.Mod(at, 0.5)))
	}
	return samples
}

func speech(t testing.TB) []int16 {
	t.Helper()
	raw, err := os.ReadFile("../silero/testdata/speech.s16")
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, len(raw)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return samples
}

// share is the part of frames that are more likely speech than not.
func share(frames []vad.Frame) float64 {
	count := 0
	for _, frame := range frames {
		if frame.Speech >= 0.5 {
			count++
		}
	}
	return float64(count) / float64(len(frames))
}

func TestGate(t *testing.T) {
	t.Parallel()
	gate := new(vad.Gate)
	if got := share(detect(gate, noise(3000, -50))); got > 0 {
		t.Errorf("%.2f of steady noise is speech", got)
	}
	frames := detect(gate, noise(500, -30))
	if got := share(frames); got < 0.9 {
		t.Errorf("%.2f of what is 20 dB louder is speech", got)
	}
	if level := frames[5].LevelDB; math.Abs(level+30) > 1 {
		t.Errorf("its level is %.1f dB", level)
	}
	if floor := frames[5].FloorDB; math.Abs(floor+50) > 1 {
		t.Errorf("the floor is %.1f dB", floor)
	}
	// After two seconds it is the background.
	if got := share(detect(gate, noise(4000, -30))[80:]); got > 0 {
		t.Errorf("%.2f of noise that stays is speech", got)
	}
	// Quieter backgrounds are learned at once.
	frames = detect(gate, noise(320, -55))
	if floor := frames[len(frames)-1].FloorDB; math.Abs(floor+55) > 1 {
		t.Errorf("the floor falls to %.1f dB", floor)
	}
}

// TestRumble checks that sound below speech does not open the gate.
func TestRumble(t *testing.T) {
	t.Parallel()
	gate := new(vad.Gate)
	detect(gate, noise(1000, -55))
	rumble := make([]int16, rate)
	for i := range rumble {
		rumble[i] = int16(800 * math.Sin(2*math.Pi*20*float64(i)/rate))
	}
	if got := share(detect(gate, rumble)[1:]); got > 0 {
		t.Errorf("%.2f of rumble is speech", got)
	}
}

// TestRustle checks that quiet sound after digital silence is no speech.
func TestRustle(t *testing.T) {
	t.Parallel()
	gate := new(vad.Gate)
	detect(gate, make([]int16, rate))
	if got := share(detect(gate, noise(500, -58))); got > 0 {
		t.Errorf("%.2f of rustle is speech", got)
	}
}

// TestNetworkDecides checks that the detector tells speech from music, which the gate does not.
func TestNetworkDecides(t *testing.T) {
	t.Parallel()
	quiet := noise(1024, -70)
	music := append(append([]int16{}, quiet...), chord(4000)...)
	if got := share(detect(new(vad.Gate), music)[32:]); got < 0.2 {
		t.Errorf("the gate takes %.2f of music for speech: the test tells nothing", got)
	}
	if got := share(detect(vad.New(), music)[32:]); got > 0.02 {
		t.Errorf("the detector takes %.2f of music for speech", got)
	}
	if got := share(detect(vad.New(), append(append([]int16{}, quiet...), speech(t)...))[32:]); got < 0.5 {
		t.Errorf("the detector takes %.2f of speech for speech", got)
	}
}

// TestFrugal checks that the detector spares the network most of the silence and some of the
// speech, and says of speech after a long silence what the network says of all of it.
func TestFrugal(t *testing.T) {
	t.Parallel()
	samples := append(noise(3200, -70), speech(t)...)
	samples = append(samples, noise(3200, -70)...)
	d, network := vad.New(), silero.New()
	different, speechFrames := 0, 0
	frames := detect(d, samples)
	for i, frame := range frames {
		whole := network.Step(samples[i*vad.FrameSamples:]) >= 0.5
		if whole {
			speechFrames++
		}
		if whole != (frame.Speech >= 0.5) {
			different++
		}
	}
	if speechFrames < 80 || different > 6 {
		t.Errorf("%d of %d frames of speech are judged otherwise than by the network alone", different, speechFrames)
	}
	// 25 is for the ends of words; without the sparing of steady speech it would be 41.
	if got, most := d.Steps(), speechFrames+25; got > most {
		t.Errorf("the network ran on %d of %d frames, %d of them speech", got, len(frames), speechFrames)
	}
}

func BenchmarkDetector(b *testing.B) {
	samples := append(noise(6400, -70), speech(b)...)
	d := vad.New()
	at := 0
	for b.Loop() {
		d.Detect(samples[at : at+vad.FrameSamples])
		if at += vad.FrameSamples; at+vad.FrameSamples > len(samples) {
			at = 0
		}
	}
	b.ReportMetric(float64(d.Steps())/float64(b.N), "steps/frame")
}
