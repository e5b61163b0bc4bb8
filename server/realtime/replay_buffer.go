package realtime

import "parlance.dev/parlance/server/realtime/dialect"

// Bounds of a replay buffer: some turns of text while the client is connected, a long answer while
// it is away.
const (
	connectedBufferBytes = 32 << 10
	awayBufferBytes      = 512 << 10
	// frameOverheadBytes is about what a frame costs beside its data.
	frameOverheadBytes = 64
)

// replayBuffer is the newest frames that one socket was sent, in order. A client that comes back is
// sent again what lies behind the last event it saw.
type replayBuffer struct {
	frames []sentFrame
	bytes  int
	limit  int
	// stream takes the frames for other nodes; nil without Redis.
	stream *frameStream
}

func newReplayBuffer(stream *frameStream) *replayBuffer {
	return &replayBuffer{limit: connectedBufferBytes, stream: stream}
}

// inherit takes over what an earlier socket was sent: a client may be lost again before it has read
// anything, and come back with the same event. Other nodes have these frames from that socket.
func (b *replayBuffer) inherit(frames []sentFrame) {
	for _, frame := range frames {
		b.frames = append(b.frames, frame)
		b.bytes += frame.size()
	}
	b.limit = awayBufferBytes
}

// limitToContent bounds the buffer of a socket that was sent again what it missed: all of that is
// kept in case the client comes back once more.
func (b *replayBuffer) limitToContent() { b.limit = max(connectedBufferBytes, b.bytes) }

// add appends frames. Frames without an id are left out, for they are never sent again, but a
// greeting always keeps its place.
func (b *replayBuffer) add(frames []dialect.Frame, marks frameMark, responseID string) {
	last := len(frames) - 1
	for i, frame := range frames {
		isGreeting := marks&markGreeting != 0
		if frame.ID == "" && !isGreeting {
			continue
		}
		sent := sentFrame{Frame: frame, marks: marks & (markGreeting | markWhole | markOutOfBand)}
		if isGreeting {
			sent.Data = nil // only its id and its place are looked for
		}
		if i == 0 {
			sent.marks |= marks & markFirst
		}
		if i == last {
			sent.marks |= marks & markLast
		}
		if sent.is(markFirst | markLast | markOutOfBand) {
			sent.responseID = responseID
		}
		b.append(sent)
	}
}

// append appends a frame and drops the oldest ones over the limit.
func (b *replayBuffer) append(frame sentFrame) {
	b.frames = append(b.frames, frame)
	b.bytes += frame.size()
	dropped := 0
	for b.bytes > b.limit && dropped < len(b.frames)-1 {
		b.bytes -= b.frames[dropped].size()
		b.frames[dropped] = sentFrame{} // frees its data while the array lives
		dropped++
	}
	b.frames = b.frames[dropped:]
	if b.stream != nil {
		b.stream.add(frame)
	}
}

// end marks the end of the frames.
func (b *replayBuffer) end() {
	if b.stream != nil {
		b.stream.end()
	}
}

func (f sentFrame) size() int { return len(f.Data) + frameOverheadBytes }
