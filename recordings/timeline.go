package recordings

import "slices"

const (
	// blockFrames is the unit of memory: a second.
	blockFrames = RateHz
	// segmentBlocks is the length of a segment with sound.
	segmentBlocks = 20
	segmentFrames = segmentBlocks * blockFrames
	// settleFrames is how long sound of the past may still be cut. A client reports what it has
	// played a little after it has played it.
	settleFrames = 5 * RateHz
	// maxLeadFrames is how far the agent's sound is believed to be ahead of what is played, while no
	// sound of the user comes that would tell.
	maxLeadFrames = 60 * RateHz
)

// segment is a stretch of a part that does not change any more.
type segment struct {
	// frames is its length. Silence may be longer than segmentFrames.
	frames int
	// blocks are its samples, both channels interleaved, in blocks of blockFrames. A nil one is
	// silent, and so is a segment without blocks.
	blocks [][]int16
	marks  []Mark
}

// isSilent reports whether nothing is heard in the segment.
func (s segment) isSilent() bool { return countSound(s.blocks) == 0 }

// countSound counts the blocks that have sound.
func countSound(blocks [][]int16) int {
	count := 0
	for _, block := range blocks {
		if block != nil {
			count++
		}
	}
	return count
}

// timeline puts the sound of two channels together. It keeps what may still change.
type timeline struct {
	// start is the first frame of window[0].
	start int
	// window has blocks as a segment has.
	window [][]int16
	// ends are the frames behind the last sample of each channel.
	ends [channels]int
}

// place puts samples of a channel at a time. Sound that begins less than a millisecond beside the
// end of the channel's earlier sound continues it, because times are rounded to milliseconds. Sound
// before the window is left out.
func (t *timeline) place(channel Channel, fromMS int, samples []int16) {
	from := fromMS * framesPerMS
	if end := t.ends[channel]; from > end-framesPerMS && from < end+framesPerMS {
		from = end
	}
	t.ends[channel] = max(t.ends[channel], from+len(samples))
	if late := t.start - from; late > 0 {
		samples = samples[min(late, len(samples)):]
		from = t.start
	}
	for len(samples) > 0 {
		number, at := (from-t.start)/blockFrames, (from-t.start)%blockFrames
		n := min(len(samples), blockFrames-at)
		t.write(number, at, channel, samples[:n])
		samples, from = samples[n:], from+n
	}
}

// write puts samples into one block of the window.
func (t *timeline) write(number, at int, channel Channel, samples []int16) {
	for len(t.window) <= number {
		t.window = append(t.window, nil)
	}
	if t.window[number] == nil {
		if !slices.ContainsFunc(samples, func(s int16) bool { return s != 0 }) {
			return
		}
		t.window[number] = make([]int16, blockFrames*channels)
	}
	to := t.window[number][at*channels+int(channel):]
	for i, sample := range samples {
		to[i*channels] = sample
	}
}

// cut silences the agent from a time on: it was not played.
func (t *timeline) cut(fromMS int) {
	from := fromMS * framesPerMS
	t.ends[Agent] = min(t.ends[Agent], from)
	for number, block := range t.window {
		begin := max(0, from-t.start-number*blockFrames)
		for i := begin*channels + int(Agent); i < len(block); i += channels {
			block[i] = 0
		}
	}
}

// take removes the segments that do not change any more from the window.
func (t *timeline) take() []segment {
	settled := max(t.ends[User]-settleFrames, t.ends[Agent]-maxLeadFrames)
	return t.takeSegments((settled - t.start) / segmentFrames)
}

// takeAll removes everything from the window, to the end of the sound.
func (t *timeline) takeAll() []segment {
	end := max(t.start, t.ends[User], t.ends[Agent])
	taken := t.takeSegments((end - t.start) / segmentFrames)
	if rest := end - t.start; rest > 0 {
		blocks := (rest + blockFrames - 1) / blockFrames
		taken = append(taken, segment{frames: rest, blocks: t.window[:min(blocks, len(t.window))]})
	}
	t.start, t.window = end, nil
	return taken
}

// takeSegments removes a number of whole segments. Silent ones that follow each other are one.
func (t *timeline) takeSegments(count int) (taken []segment) {
	for range max(0, count) {
		n := min(segmentBlocks, len(t.window))
		next := segment{frames: segmentFrames, blocks: t.window[:n:n]}
		t.window = t.window[n:]
		t.start += segmentFrames
		if last := len(taken) - 1; last >= 0 && next.isSilent() && taken[last].isSilent() {
			taken[last].frames += segmentFrames
			continue
		}
		taken = append(taken, next)
	}
	if len(taken) > 0 {
		t.window = slices.Clone(t.window) // not in one piece of memory with what is stored
	}
	return taken
}
