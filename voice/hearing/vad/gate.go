package vad

import "math"

const (
	// FrameSamples is the number of samples of a frame.
	FrameSamples = 512
	// FrameMS is the length of a frame in ms.
	FrameMS = 32

	// floorFrames is how far back the quietest moment is looked for. Speech has a pause between two
	// syllables or words within two seconds, so that the quietest moment is the background.
	floorFrames = 62

	// lowestFloorDB keeps digital silence from making the rustle after it loud.
	lowestFloorDB = -60

	// aloneDB is how far above the floor a frame is as likely speech as not, for the gate alone.
	aloneDB = 9

	// slopeDB is how many dB lie between a probability of 0 and of 1.
	slopeDB = 12
)

// Frame is what a detector says of FrameSamples samples.
type Frame struct {
	// Speech is the probability of speech, 0 to 1.
	Speech float32
	// LevelDB is the level above 150 Hz in dB of full scale, FloorDB that of the background.
	LevelDB, FloorDB float64
}

// Gate is the energy gate. The zero value is ready for the beginning of a stream.
type Gate struct {
	previous, filtered float64    // of the high-pass filter
	recent             [3]float64 // power of the last frames, a ring
	levels             [floorFrames]float64
	frames             int
}

// Detect takes the next FrameSamples samples.
func (g *Gate) Detect(samples []int16) Frame {
	frame := g.measure(samples)
	over := frame.LevelDB - frame.FloorDB
	frame.Speech = float32(min(max(0.5+(over-aloneDB)/slopeDB, 0), 1))
	return frame
}

// measure fills in the levels of a frame.
func (g *Gate) measure(samples []int16) Frame {
	power := g.power(samples[:FrameSamples])
	g.recent[g.frames%len(g.recent)] = power
	known := min(g.frames+1, len(g.recent))
	var sum float64
	for _, p := range g.recent[:known] {
		sum += p
	}
	g.levels[g.frames%floorFrames] = decibels(sum / float64(known))
	g.frames++
	floor := math.Inf(1)
	for _, level := range g.levels[:min(g.frames, floorFrames)] {
		floor = min(floor, level)
	}
	return Frame{LevelDB: decibels(power), FloorDB: max(floor, lowestFloorDB)}
}

// power is the mean square of the samples above 150 Hz: below lie rumble, hum and the most of brown
// noise, and little of speech.
func (g *Gate) power(samples []int16) float64 {
	const keep = 0.943 // a pole for 150 Hz at 16 kHz
	var sum float64
	for _, sample := range samples {
		x := float64(sample) / 32768
		g.filtered = keep * (g.filtered + x - g.previous)
		g.previous = x
		sum += g.filtered * g.filtered
	}
	return sum / float64(len(samples))
}

// LevelDB is the level of samples in dB of full scale, at any rate; −100 for silence.
func LevelDB(samples []int16) float64 {
	var sum float64
	for _, sample := range samples {
		x := float64(sample) / 32768
		sum += x * x
	}
	return decibels(sum / float64(max(len(samples), 1)))
}

func decibels(power float64) float64 {
	return 10 * math.Log10(power+1e-10)
}
