package audio

import "slices"

// AppendInterleaved appends the two channels of a recording to dst: left, right, left, right. The
// shorter channel is silent at its end.
func AppendInterleaved(dst, left, right []int16) []int16 {
	frames := max(len(left), len(right))
	start := len(dst)
	dst = slices.Grow(dst, 2*frames)[:start+2*frames]
	both := dst[start:]
	clear(both)
	for i, sample := range left {
		both[2*i] = sample
	}
	for i, sample := range right {
		both[2*i+1] = sample
	}
	return dst
}

// AppendChannel appends one channel of interleaved samples to dst; the first has the number 0. An
// incomplete frame at the end is left out.
func AppendChannel(dst, interleaved []int16, channels, number int) []int16 {
	for ; len(interleaved) >= channels; interleaved = interleaved[channels:] {
		dst = append(dst, interleaved[number])
	}
	return dst
}

// AppendMono appends the mean of all channels of interleaved samples to dst. An incomplete frame at
// the end is left out.
func AppendMono(dst, interleaved []int16, channels int) []int16 {
	for ; len(interleaved) >= channels; interleaved = interleaved[channels:] {
		sum := 0
		for _, sample := range interleaved[:channels] {
			sum += int(sample)
		}
		dst = append(dst, int16(sum/channels))
	}
	return dst
}
