package simulated

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The statuses of a call.
const (
	statusQueued     = "queued"
	statusInitiated  = "initiated"
	statusRinging    = "ringing"
	statusInProgress = "in-progress"
	statusCompleted  = "completed"
	statusBusy       = "busy"
	statusNoAnswer   = "no-answer"
	statusFailed     = "failed"
	statusCanceled   = "canceled"
)

// The codes of the network for calls that are not taken.
const (
	sipBusy    = "486"
	sipDecline = "603"
)

const (
	// machineAfter is how long it takes to find out who has answered.
	machineAfter = time.Second
	// maxCalls bounds the calls that are known.
	maxCalls = 1000
)

// call is a call of Twilio's interface: one leg, and what is done with it.
type call struct {
	s                    *Switchboard
	sid, parent          string
	from, to, direction  string
	created              time.Time
	answerURL, statusURL string
	machineURL           string
	statusEvents         []string
	timeout, timeLimit   time.Duration
	// life ends with the call.
	life context.Context //nolint:containedctx // the life of the call, which no request spans
	end  context.CancelFunc
	told outbox

	mu sync.Mutex
	// What follows is guarded by mu.
	leg      *leg
	status   string
	answered time.Time
	duration time.Duration
	sequence int
	// next is what is to be done in place of what is done now; interrupt ends that.
	next      *document
	interrupt context.CancelFunc
}

func (s *Switchboard) newCall(from, to, direction string) *call {
	c := &call{
		s: s, sid: newSID("CA"), from: from, to: to, direction: direction, created: s.o.Now(), status: statusQueued,
		timeout: defaultTimeout, timeLimit: defaultTimeLimit, interrupt: func() {}, leg: newLeg(nil, from),
	}
	c.life, c.end = context.WithCancel(s.life)
	return c
}

// add has a call be found.
func (s *Switchboard) add(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls[max(0, len(s.calls)+1-maxCalls):], c)
}

// view is the call as the interface shows it.
func (c *call) view() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	view := map[string]any{
		"sid": c.sid, "account_sid": c.s.o.AccountSID, "from": c.from, "to": c.to, "status": c.status, "direction": c.direction,
		"date_created": c.created.UTC().Format(time.RFC1123Z), "start_time": nil, "duration": nil,
	}
	if !c.answered.IsZero() {
		view["start_time"] = c.answered.UTC().Format(time.RFC1123Z)
	}
	if isFinal(c.status) {
		view["duration"] = strconv.Itoa(int(c.duration / time.Second))
	}
	return view
}

func isFinal(status string) bool {
	return slices.Contains([]string{statusCompleted, statusBusy, statusNoAnswer, statusFailed, statusCanceled}, status)
}

// currentLeg is the call's leg.
func (c *call) currentLeg() *leg {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leg
}

// runOutbound is the life of a call that the service has placed.
func (c *call) runOutbound() {
	defer c.told.close()
	c.s.start(func() { c.told.deliver(c.s) })
	c.tell(statusInitiated, "")
	if !c.connect() {
		return
	}
	c.detectMachine()
	c.carryOut(c.ask(c.answerURL, nil))
	c.finish(statusCompleted, "")
}

// connect rings until somebody answers, and reports whether anybody has.
func (c *call) connect() bool {
	rung := c.s.ring(c.to, c.from)
	c.mu.Lock()
	c.leg = rung
	c.mu.Unlock()
	c.tell(statusRinging, "")
	select {
	case <-rung.answered:
		c.pickUp()
		return true
	case <-rung.gone:
		status, sip := rung.ended()
		if status == statusCompleted { // hung up before it was answered
			status, sip = statusBusy, sipDecline
		}
		c.finish(status, sip)
	case <-c.s.o.After(c.timeout):
		c.finish(statusNoAnswer, "")
	case <-c.life.Done():
		c.finish(statusCanceled, "")
	}
	return false
}

// pickUp notes that the two sides hear each other.
func (c *call) pickUp() {
	c.mu.Lock()
	l := c.leg
	c.answered = c.s.o.Now()
	c.mu.Unlock()
	l.phone.notice(Event{Kind: EventAnswered})
	c.tell(statusInProgress, "")
	c.s.start(func() { // the call is over when the phone has hung up, or it has lasted long enough
		select {
		case <-l.gone:
		case <-c.s.o.After(c.timeLimit):
		case <-c.life.Done():
		}
		c.end()
	})
}

// detectMachine tells who has answered.
func (c *call) detectMachine() {
	if c.machineURL == "" {
		return
	}
	by := "human"
	if p := c.currentLeg().phone; p != nil && p.isMachine() {
		by = "machine_end_beep"
	}
	c.s.start(func() {
		if c.s.wait(c.life, machineAfter) == nil {
			_, _ = c.s.post(c.s.life, c.machineURL, c.form(url.Values{"AnsweredBy": {by}})) // nobody asks for the answer
		}
	})
}

// incoming is a call from a phone to a number of the account; false: there is no such number.
func (s *Switchboard) incoming(l *leg, to string) bool {
	called := s.ownNumber(func(n *number) bool { return n.number == to && n.voiceURL != "" })
	if called == nil {
		return false
	}
	s.mu.Lock()
	voiceURL := called.voiceURL
	s.mu.Unlock()
	c := s.newCall(l.from, to, "inbound")
	c.status, c.leg, c.answerURL = statusRinging, l, voiceURL
	s.add(c)
	return s.start(c.runInbound)
}

// runInbound is the life of a call that came in.
func (c *call) runInbound() {
	defer c.told.close()
	l := c.currentLeg()
	asked, answered := context.WithCancel(c.life)
	c.s.start(func() {
		select {
		case <-l.gone:
			c.end()
		case <-asked.Done():
		}
	})
	d := c.ask(c.answerURL, nil)
	answered()
	switch first := d.first(); {
	case c.life.Err() != nil:
		c.finish(statusNoAnswer, "")
		return
	case first == "Reject" && d.Verbs[0].attr("reason") == statusBusy:
		c.finish(statusBusy, sipBusy)
		return
	case first == "Reject", first == "":
		c.finish(statusNoAnswer, "")
		return
	}
	l.answer()
	c.pickUp()
	c.carryOut(d)
	c.finish(statusCompleted, "")
}

// finish ends the call; the first end counts.
func (c *call) finish(status, sip string) {
	c.mu.Lock()
	l := c.leg
	if !c.answered.IsZero() {
		c.duration = c.s.o.Now().Sub(c.answered)
	}
	c.mu.Unlock()
	c.end()
	l.end(status, sip, status)
	c.tell(status, sip)
}

// redirect has something else done with a call in progress.
func (c *call) redirect(d *document) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != statusInProgress || c.life.Err() != nil {
		return false
	}
	c.next = d
	c.interrupt()
	return true
}
