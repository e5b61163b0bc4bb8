package audio

import "math"

// MinLevel is the lowest level that Level returns, in dBFS. A window full of the smallest samples
// but 0 has -90.3.
const MinLevel = -100.0

// Level is the root mean square of a window of samples in dBFS. At 0 every sample is -32,768
// (dBov of ITU-T G.100.1), so the loudest sine has -3.01. Silence, and no samples at all,
// have MinLevel.
func Level(window []int16) float64 {
	energy := 0.0
	for _, sample := range window {
		energy += float64(sample) * float64(sample)
	}
	if energy == 0 {
		return MinLevel
	}
	meanSquare := energy / float64(len(window))
	return max(10*math.Log10(meanSquare/(math.MinInt16*math.MinInt16)), MinLevel)
}
