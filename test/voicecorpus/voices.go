package voicecorpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// speechDB is the level of a speaker, in dB of full scale.
const speechDB = -23

// voice is a voice of a program that speaks.
type voice struct {
	program, name, speed string
}

var (
	englishVoices = []voice{
		{"flite", "slt", "1.0"},
		{"espeak-ng", "en-us", "160"},
		{"flite", "rms", "0.85"},
		{"espeak-ng", "en-gb+f3", "180"},
		{"flite", "awb", "1.0"},
		{"espeak-ng", "en-us+m3", "150"},
		{"flite", "kal16", "0.9"},
		{"flite", "slt", "0.8"},
		{"espeak-ng", "en-us+f2", "190"},
		{"flite", "rms", "1.1"},
	}
	agentVoice = voice{"flite", "slt", "0.95"}
)

// voices renders texts, each once. Safe for concurrent use.
type voices struct {
	folder string
	mu     sync.Mutex
	said   map[string][]int16
}

// newVoices looks for the programs, and installs them on Debian and Ubuntu.
func newVoices() (*voices, error) {
	for _, program := range []string{"flite", "espeak-ng"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if out, err := exec.Command("sh", "-c", "apt-get update -qq; apt-get install -y -qq flite espeak-ng").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s is missing, and apt-get cannot install it: %w\n%s", program, err, out)
		}
	}
	folder, err := os.MkdirTemp("", "voicecorpus")
	if err != nil {
		return nil, err
	}
	return &voices{folder: folder, said: map[string][]int16{}}, nil
}

func (v *voices) close() error {
	return os.RemoveAll(v.folder)
}

// say renders a text: 16 kHz, without silence before and after, at speechDB.
func (v *voices) say(by voice, text string) ([]int16, error) {
	key := fmt.Sprint(by, text)
	v.mu.Lock()
	defer v.mu.Unlock()
	if samples := v.said[key]; samples != nil {
		return samples, nil
	}
	file := filepath.Join(v.folder, "speech.wav")
	command := exec.Command("espeak-ng", "-v", by.name, "-s", by.speed, "-w", file, text)
	if by.program == "flite" {
		command = exec.Command("flite", "-voice", by.name, "--setf", "duration_stretch="+by.speed, "-t", text, "-o", file)
	}
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", command, err, out)
	}
	samples, rate, err := readWAV(file)
	if err != nil {
		return nil, err
	}
	samples = atLevel(trim(resample(samples, rate)), speechDB)
	if len(samples) == 0 {
		return nil, fmt.Errorf("%v says nothing for %q", by, text)
	}
	v.said[key] = samples
	return samples, nil
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
	if rate == sampleRate {
		return in
	}
	step := float64(rate) / sampleRate
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
		out[i] = clip(sum)
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
	const block = sampleRate / 100
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

func powerOf(samples []int16) float64 {
	var sum float64
	for _, sample := range samples {
		x := float64(sample) / 32768
		sum += x * x
	}
	return sum / float64(max(len(samples), 1))
}

// atLevel scales samples to a level in dB of full scale.
func atLevel(samples []int16, levelDB float64) []int16 {
	gain := math.Pow(10, levelDB/20) / math.Sqrt(powerOf(samples)+1e-12)
	scaled := make([]int16, len(samples))
	for i, sample := range samples {
		scaled[i] = clip(float64(sample) * gain)
	}
	return scaled
}

func clip(x float64) int16 {
	return int16(min(max(math.Round(x), -32768), 32767))
}
