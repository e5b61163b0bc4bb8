package realtime

import (
	"slices"

	"parlance.dev/parlance/server/realtime/dialect"
)

// frameMark is the role of a frame in an answer.
type frameMark byte

const (
	// markFirst: the first frame of an answer.
	markFirst frameMark = 1 << iota
	// markLast: the last frame of an answer.
	markLast
	// markGreeting: what a dialect sends first, to each socket anew.
	markGreeting
	// markWhole: an item that was sent whole, in place of the frames that introduced it.
	markWhole
	// markOutOfBand: a frame of an answer out of band. Such frames come between those of the
	// conversation's answer.
	markOutOfBand
)

// sentFrame is a frame as it was sent.
type sentFrame struct {
	dialect.Frame
	marks frameMark
	// responseID is the answer's id when marks has markFirst, markLast or markOutOfBand.
	responseID string
}

func (f sentFrame) is(mark frameMark) bool { return f.marks&mark != 0 }

// framesAfter is the frames behind the one with this id; false when there is none.
func framesAfter(frames []sentFrame, id string) ([]sentFrame, bool) {
	if id == "" {
		return nil, false
	}
	for i, frame := range slices.Backward(frames) {
		if frame.ID == id {
			return frames[i+1:], true
		}
	}
	return nil, false
}

// openAnswers finds the answers that have no last frame yet: those out of band, and where the
// conversation's answer begins, which is len(frames) when none is open. An answer whose first frame
// is not kept any more is left out.
func openAnswers(frames []sentFrame) (outOfBand map[string]bool, begin int) {
	outOfBand, begin = map[string]bool{}, len(frames)
	for i, frame := range frames {
		switch {
		case frame.is(markOutOfBand) && frame.is(markLast):
			delete(outOfBand, frame.responseID)
		case frame.is(markOutOfBand) && frame.is(markFirst):
			outOfBand[frame.responseID] = true
		case frame.is(markOutOfBand):
		case frame.is(markLast):
			begin = len(frames)
		case frame.is(markFirst):
			begin = i
		}
	}
	return outOfBand, begin
}

// hasOpenAnswer reports whether the conversation's answer has no last frame yet.
func hasOpenAnswer(frames []sentFrame) bool {
	_, begin := openAnswers(frames)
	return begin < len(frames)
}

// splitOpen separates the frames of open answers, from the first frame of each, from the others.
func splitOpen(frames []sentFrame) (open, others []sentFrame) {
	outOfBand, begin := openAnswers(frames)
	for i, frame := range frames {
		if outOfBand[frame.responseID] || !frame.is(markOutOfBand) && i >= begin {
			open = append(open, frame)
		} else {
			others = append(others, frame)
		}
	}
	return open, others
}

// idsOf is the set of the frames' ids.
func idsOf(frames []sentFrame) map[string]bool {
	ids := make(map[string]bool, len(frames))
	for _, frame := range frames {
		ids[frame.ID] = true
	}
	return ids
}

// takeUnseen returns the frames whose ids are not in seen, and all greetings, and adds their ids.
func takeUnseen(frames []sentFrame, seen map[string]bool) []sentFrame {
	var unseen []sentFrame
	for _, frame := range frames {
		if !seen[frame.ID] || frame.is(markGreeting) {
			unseen = append(unseen, frame)
		}
	}
	for _, frame := range unseen {
		seen[frame.ID] = true
	}
	return unseen
}
