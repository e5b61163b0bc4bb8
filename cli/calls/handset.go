package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/audio"
)

const (
	// tickEvery is how often sound is sent and played.
	tickEvery = 20 * time.Millisecond
	// maxDue is the most that one tick makes up for, after the machine slept.
	maxDue = sound.RateHz
	// speechLevel is the level in dBFS from which on the other side counts as speaking.
	speechLevel = -45.0
	// speechGap is the silence that ends a stretch of speech.
	speechGap = time.Second
	// unheardFor is how long the phone waits for the other side to speak before it goes on.
	unheardFor = 10 * time.Second
	// settledWithin is how long a callback may take to be over after the phone has hung up.
	settledWithin = time.Minute
	// sendAhead is how much of what is said may be on its way; pieceBytes is 200 ms.
	sendAhead, pieceBytes = time.Second, 1600
)

var (
	// errOver says that the phone has nothing more to do.
	errOver = errors.New("the phone is put away")
	// errQuit says that the person wants the phone no more.
	errQuit = errors.New("the person has put the phone away")
)

// handset is the telephone. One goroutine has its state: run's.
type handset struct {
	*service
	o           callOptions
	number      string
	line        *line
	parts       parts
	interactive bool
	// steps are what it does by itself in each call.
	steps []step

	// last is the last tick. Real time is counted in samples since begun: done of them have passed.
	begun, last time.Time
	done        int
	// lines is the keyboard; nil when it has ended.
	lines <-chan string
	// updates are what the callback has become; nil: there is none.
	updates <-chan outcome
	// over is called when a call has ended. Its error ends the phone.
	over func(ctx context.Context, reason string) error
	// ended is what the callback has become in the end; nil before.
	ended *outcome

	ringing, talking bool
	// overAt is when the last call has ended.
	overAt time.Time
	talk
}

// talk is the state of one call.
type talk struct {
	answeredAt time.Time
	// left are the steps to come.
	left []step
	// sending is the rest of the words that are being said; they are heard until saidUntil.
	sending   []byte
	saidUntil time.Time
	// spokeAt and heardAt are the beginning and the end of what the other side said last; spokeAt is
	// zero while it is silent. heard reports that it has said something since the last words.
	spokeAt, heardAt time.Time
	heard            bool
	hungUp           bool
}

// run is the phone until it has nothing more to do, or ctx ends.
func (h *handset) run(ctx context.Context) error {
	h.begun = h.Now()
	h.last = h.begun
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the keyboard
	h.lines = h.keyboard(ctx)
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case now := <-ticker.C:
			err = h.tick(ctx, now)
		case m := <-h.line.messages:
			err = h.take(ctx, m)
		case <-h.line.closed:
			err = errLineLost
		case text, more := <-h.lines:
			if !more {
				h.lines = nil
				continue
			}
			err = h.typed(ctx, text)
		case update := <-h.updates:
			err = h.updated(update)
		}
		switch {
		case errors.Is(err, errOver):
			return nil
		case err != nil:
			return err
		}
	}
}

// take takes a message of the line.
func (h *handset) take(ctx context.Context, m message) error {
	switch m.event.Event {
	case eventRing:
		return h.rings(ctx, m.event)
	case eventAnswered:
		h.ringing, h.talking = false, true
		h.talk = talk{answeredAt: h.last, left: h.steps}
		h.parts.call++
		h.parts.up.Reset()
		h.show(m.event, "answered", "the other side is on the line")
	case eventHungUp:
		h.spokeEnded()
		h.ringing, h.talking, h.overAt = false, false, h.last
		h.show(m.event, "over", m.event.Reason)
		return h.over(ctx, m.event.Reason)
	case eventDTMF:
		h.show(m.event, "key", m.event.Digit)
	case eventSay:
		h.show(m.event, "carrier", m.event.Text)
	case "":
		h.hear(m.sound)
	}
	return nil
}

// rings does what the flags say about a call that comes in.
func (h *handset) rings(ctx context.Context, e event) error {
	h.ringing = true
	h.show(e, "ring", "☎ "+e.From+" calls")
	switch {
	case h.o.busy:
		return h.line.send(ctx, event{Event: "busy"})
	case h.o.reject:
		return h.line.send(ctx, event{Event: "reject"})
	case h.o.answersAlone():
		return h.line.send(ctx, event{Event: "answer"})
	case h.interactive:
		h.note("", "Enter answers, r rejects, q hangs up")
	case h.lines == nil:
		h.note("", "nobody answers: give --answer")
	}
	return nil
}

// hear plays sound of the other side, and notes whether it speaks.
func (h *handset) hear(encoded []byte) {
	if !h.talking {
		return
	}
	decoder := audio.Decoder{Format: onLine}
	samples := decoder.AppendDecode(nil, encoded)
	h.parts.play(samples)
	if audio.Level(samples) >= speechLevel {
		if h.spokeAt.IsZero() {
			h.spokeAt = h.last
		}
		h.heardAt, h.heard = h.last, true
	}
}

// spokeEnded reports a stretch of speech.
func (h *handset) spokeEnded() {
	if !h.spokeAt.IsZero() {
		spoke := max(h.heardAt.Sub(h.spokeAt), tickEvery)
		h.show(event{Event: "heard"}, "heard", term.Took(spoke)+" of speech")
		h.spokeAt = time.Time{}
	}
}

// tick plays and sends as much sound as time has passed, and does the next step.
func (h *handset) tick(ctx context.Context, now time.Time) error {
	due := audio.Samples(now.Sub(h.begun), sound.RateHz) - h.done
	h.done, h.last = h.done+max(due, 0), now
	if h.talking || !h.parts.idle() {
		h.parts.advance(min(max(due, 0), maxDue))
	}
	if h.parts.microphone != nil {
		said, err := h.parts.listen()
		if err != nil {
			return err
		}
		if h.talking && len(said) > 0 {
			if err := h.line.speak(ctx, said); err != nil {
				return err
			}
		}
	}
	if !h.talking {
		return h.isOver()
	}
	if !h.spokeAt.IsZero() && now.Sub(h.heardAt) >= speechGap {
		h.spokeEnded()
	}
	if h.o.hangUpAfter > 0 && now.Sub(h.answeredAt) >= h.o.hangUpAfter {
		return h.hangUp(ctx)
	}
	return h.speak(ctx)
}

// isOver returns errOver when there is nothing more to do, between calls.
func (h *handset) isOver() error {
	switch {
	case h.ringing || !h.parts.idle():
		return nil
	case h.ended != nil:
		return errOver
	case h.updates != nil && !h.overAt.IsZero() && h.last.Sub(h.overAt) > settledWithin:
		return fmt.Errorf("the call is over, and its callback is not; see parlance callbacks ls --status in_progress")
	}
	return nil
}

// speak goes on with the words, and does the next step when it is time for it.
func (h *handset) speak(ctx context.Context) error {
	for len(h.sending) > 0 && h.saidUntil.Sub(h.last) < sendAhead {
		piece := h.sending[:min(pieceBytes, len(h.sending))]
		if err := h.line.speak(ctx, piece); err != nil {
			return err
		}
		h.sending, h.saidUntil = h.sending[len(piece):], h.saidUntil.Add(audio.Duration(len(piece), onLine.RateHz))
	}
	if len(h.sending) > 0 || h.last.Before(h.saidUntil) || len(h.steps) == 0 || !h.quiet() {
		return nil
	}
	if len(h.left) == 0 {
		if h.o.hangUpAfter > 0 || h.o.machine {
			return nil
		}
		return h.hangUp(ctx)
	}
	next := h.left[0]
	h.left, h.heard, h.saidUntil = h.left[1:], false, h.last
	if next.keys == "" {
		h.show(event{Event: "says", Text: next.says}, "says", next.says)
		h.sending = next.sound
		return nil
	}
	return h.press(ctx, next.keys)
}

// quiet reports whether it is time for the next step: the other side has spoken and is silent, or
// does not speak. An answering machine does not wait for its caller.
func (h *handset) quiet() bool {
	since := h.answeredAt
	for _, at := range []time.Time{h.heardAt, h.saidUntil} {
		if at.After(since) {
			since = at
		}
	}
	silent := h.last.Sub(since)
	return h.o.machine || h.heard && silent >= h.o.pause || silent >= max(h.o.pause, unheardFor)
}

func (h *handset) press(ctx context.Context, keys string) error {
	h.show(event{Event: "presses", Digit: keys}, "presses", keys)
	for _, key := range keys {
		if err := h.line.send(ctx, event{Event: eventDTMF, Digit: string(key)}); err != nil {
			return err
		}
	}
	return nil
}

func (h *handset) hangUp(ctx context.Context) error {
	if h.hungUp {
		return nil
	}
	h.hungUp = true
	h.show(event{Event: "hangs_up"}, "hangs up", "")
	return h.line.send(ctx, event{Event: "hang_up"})
}

// typed takes a line of the keyboard.
func (h *handset) typed(ctx context.Context, text string) error {
	switch {
	case h.ringing && (text == "" || text == "a"):
		return h.line.send(ctx, event{Event: "answer"})
	case h.ringing && (text == "r" || text == "q"):
		return h.line.send(ctx, event{Event: "reject"})
	case h.talking && text == "q":
		return h.hangUp(ctx)
	case h.talking && text != "" && strings.Trim(text, audio.Keys) == "":
		return h.press(ctx, text)
	case text == "q":
		return errQuit
	case text != "":
		h.note("", "Enter answers, r rejects, q hangs up, and digits are pressed in a call")
	}
	return nil
}

// updated takes what has become of the callback.
func (h *handset) updated(u outcome) error {
	if u.err != nil {
		return u.err
	}
	if u.settled {
		h.ended = &u
		h.updates = nil
		return nil
	}
	if waits := u.callback.GetWaitsFor(); waits != "" {
		h.show(event{Event: "waits", Reason: waits}, "waits", fmt.Sprintf("%s is not dialed yet: %s", u.callback.GetId(), waits))
	}
	return nil
}

// outcome is what has become of a callback.
type outcome struct {
	callback *parlancev1.Callback
	// settled reports that nothing more comes of it soon: it is over, or another attempt is planned.
	settled bool
	err     error
}
