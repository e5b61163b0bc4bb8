package realtime

import "parlance.dev/parlance/server/realtime/dialect"

// Bounds of a journal: some turns of text while the client is there, a long answer while it is not.
const (
	journalBytes     = 32 << 10
	awayJournalBytes = 512 << 10
	// keptBytes is about what a frame costs beside its data.
	keptBytes = 64
)

// mark says what a frame is to an answer.
type mark byte

const (
	// markOpens: the first frame of an answer.
	markOpens mark = 1 << iota
	// markCloses: the last one.
	markCloses
	// markHello: what a dialect says first, which is said anew to every socket.
	markHello
	// markWhole: an item told whole in place of the frames that told it first.
	markWhole
	// markAside: a frame of an answer out of band. They come between those of the conversation's.
	markAside
)

// kept is a frame as it was sent.
type kept struct {
	dialect.Frame
	mark mark
	// response is the answer's id where the mark opens or closes one, and where it is out of band.
	response string
}

// journal is what one socket was sent, the newest frames of it, in the order in which they went out: a
// socket that comes back is sent again what lies behind the last event its client saw.
type journal struct {
	frames []kept
	bytes  int
	limit  int
	// sink takes the frames for other nodes; nil: there is none.
	sink *sink
}

func newJournal(s *sink) *journal { return &journal{limit: journalBytes, sink: s} }

// inherit takes over what an earlier socket was sent: a client may be lost again before it has read anything, and come
// back with the same event. Other nodes have these frames from that socket.
func (j *journal) inherit(frames []kept) {
	for _, k := range frames {
		j.frames = append(j.frames, k)
		j.bytes += len(k.Data) + keptBytes
	}
	j.limit = awayJournalBytes
}

// settle bounds the journal of a socket that has been sent again what it missed: that much is kept for a further return.
func (j *journal) settle() { j.limit = max(journalBytes, j.bytes) }

// add keeps frames; those without an id are not sent again, and of a greeting without one its place is kept.
func (j *journal) add(frames []dialect.Frame, marks mark, response string) {
	last := len(frames) - 1
	for i, one := range frames {
		if one.ID == "" && marks&markHello == 0 {
			continue
		}
		k := kept{Frame: one, mark: marks & (markHello | markWhole | markAside)}
		if marks&markHello != 0 {
			k.Data = nil // only its id is looked for, or its place
		}
		if i == 0 {
			k.mark |= marks & markOpens
		}
		if i == last {
			k.mark |= marks & markCloses
		}
		if k.mark&(markOpens|markCloses|markAside) != 0 {
			k.response = response
		}
		j.keep(k)
	}
}

func (j *journal) keep(k kept) {
	j.frames = append(j.frames, k)
	j.bytes += len(k.Data) + keptBytes
	first := 0
	for j.bytes > j.limit && first < len(j.frames)-1 {
		j.bytes -= len(j.frames[first].Data) + keptBytes
		j.frames[first] = kept{} // let it go
		first++
	}
	j.frames = j.frames[first:]
	if j.sink != nil {
		j.sink.add(k)
	}
}

// end says that nothing follows.
func (j *journal) end() {
	if j.sink != nil {
		j.sink.end()
	}
}

// after is what lies behind the frame with this id; false when that is not here.
func after(frames []kept, id string) ([]kept, bool) {
	if id == "" {
		return nil, false
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].ID == id {
			return frames[i+1:], true
		}
	}
	return nil, false
}

// open are the answers out of band that are open at the end of the frames, and where the conversation's begins;
// len(frames) when that is not open. One whose beginning is gone is not there.
func open(frames []kept) (asides map[string]bool, begins int) {
	asides, begins = map[string]bool{}, len(frames)
	for i, k := range frames {
		switch {
		case k.mark&markAside != 0 && k.mark&markCloses != 0:
			delete(asides, k.response)
		case k.mark&markAside != 0 && k.mark&markOpens != 0:
			asides[k.response] = true
		case k.mark&markAside != 0:
		case k.mark&markCloses != 0:
			begins = len(frames)
		case k.mark&markOpens != 0:
			begins = i
		}
	}
	return asides, begins
}

// goesOut says that the conversation's answer is open at the end of the frames.
func goesOut(frames []kept) bool {
	_, begins := open(frames)
	return begins < len(frames)
}

// goingOut are the frames of the answers that are open at the end, from the first one of each, and the others.
func goingOut(frames []kept) (going, others []kept) {
	asides, begins := open(frames)
	for i, k := range frames {
		if asides[k.response] || k.mark&markAside == 0 && i >= begins {
			going = append(going, k)
		} else {
			others = append(others, k)
		}
	}
	return going, others
}
