package voices

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"sync"

	"parlance.dev/parlance/platform/devstack"
)

const (
	// RateHz is the rate of what a Maker makes.
	RateHz = 16_000
	// Level is that of all speech, in dB of full scale.
	Level = -23
)

// Voice is a voice of a program that speaks.
type Voice struct {
	// Engine is flite or espeak-ng.
	Engine string
	// Name is the engine's name of the voice.
	Name string
	// Speed is as the engine has it: flite's factor of all durations, "1" without a change, or
	// espeak-ng's words a minute, "160" or so.
	Speed string
}

// Maker renders texts, each once. It is safe for concurrent use.
type Maker struct {
	mu   sync.Mutex
	said map[string][]int16
}

// NewMaker looks for the engines, and installs them on Debian and Ubuntu as root; elsewhere the
// error has the line that installs them.
func NewMaker(ctx context.Context) (*Maker, error) {
	err := devstack.InstallTools(ctx, devstack.Options{Tools: []devstack.Tool{
		{Command: "flite", Apt: "flite", Brew: "flite"},
		{Command: "espeak-ng", Apt: "espeak-ng", Brew: "espeak-ng"},
	}})
	if err != nil {
		return nil, err
	}
	return &Maker{said: map[string][]int16{}}, nil
}

// Say renders a text at RateHz and Level, without silence before and after. The samples are shared:
// a caller must not change them.
func (m *Maker) Say(by Voice, text string) ([]int16, error) {
	key := fmt.Sprint(by, text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if samples := m.said[key]; samples != nil {
		return samples, nil
	}
	samples, rate, err := speak(by, text)
	if err != nil {
		return nil, err
	}
	samples = AtLevel(trim(resample(samples, rate)), Level)
	if len(samples) == 0 {
		return nil, fmt.Errorf("%v says nothing for %q", by, text)
	}
	m.said[key] = samples
	return samples, nil
}

// speak runs the engine. It writes to a file, because flite cannot write to a pipe.
func speak(by Voice, text string) (samples []int16, rateHz int, err error) {
	file, err := os.CreateTemp("", "speech*.wav")
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // a file that stays harms nobody
	if err := file.Close(); err != nil {
		return nil, 0, err
	}
	command := exec.Command("espeak-ng", "-v", by.Name, "-s", by.Speed, "-w", file.Name(), text)
	if by.Engine == "flite" {
		command = exec.Command("flite", "-voice", by.Name, "--setf", "duration_stretch="+by.Speed, "-t", text, "-o", file.Name())
	}
	if out, err := command.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("%v: %w\n%s", command, err, out)
	}
	return readWAV(file.Name())
}

// readWAV reads the mono 16-bit files that both programs write. espeak-ng's header has no length.
func readWAV(file string) ([]int16, int, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	const header = 44
	if len(raw) < header || string(raw[36:40]) != "data" {
		return nil, 0, errors.New("this is no plain WAV file")
	}
	samples := make([]int16, (len(raw)-header)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(raw[header+2*i:]))
	}
	return samples, int(binary.LittleEndian.Uint32(raw[24:])), nil
}

// resample brings samples to 16 kHz by a windowed sinc of 16 zero crossings a side.
func resample(in []int16, rate int) []int16 {
	if rate == RateHz {
		return in
	}
	step := float64(rate) / RateHz
	cut := min(1, 1/step)
	reach := 16 / cut
	out := make([]int16, int(float64(len(in))/step))
	for i := range out {
		at := float64(i) * step
		var sum float64
		for j := max(0, int(at-reach)); j <= min(len(in)-1, int(at+reach)); j++ {
			x := float64(j) - at
			sum += float64(in[j]) * cut * sinc(x*cut) * (0.5 + 0.5*math.Cos(math.Pi*x/reach))
		}
		out[i] = Clip(sum)
	}
	return out
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// trim cuts what is 45 dB below the loudest 10 ms off both ends.
func trim(samples []int16) []int16 {
	const block = RateHz / 100
	var powers []float64
	loudest := 0.0
	for at := 0; at+block <= len(samples); at += block {
		powers = append(powers, powerOf(samples[at:at+block]))
		loudest = max(loudest, powers[len(powers)-1])
	}
	first, last := 0, len(powers)-1
	for first <= last && powers[first] < loudest*math.Pow(10, -4.5) {
		first++
	}
	for last >= first && powers[last] < loudest*math.Pow(10, -4.5) {
		last--
	}
	return samples[first*block : (last+1)*block]
}
