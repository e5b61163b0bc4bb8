package simulated

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// dial connects the call with another number, and returns what the service wants done then.
func (c *call) dial(ctx context.Context, v *node) *document {
	target := &node{Text: v.Text}
	if n := v.child("Number"); n != nil {
		target = n
	}
	from := v.attr("callerId")
	if from == "" {
		from = c.from
	}
	other := c.s.newCall(from, strings.TrimSpace(target.Text), "outbound-dial")
	other.parent, other.timeout = c.sid, secondsOf(v.attr("timeout"), defaultTimeout/2)
	other.timeLimit = secondsOf(v.attr("timeLimit"), defaultTimeLimit)
	other.statusURL, other.statusEvents = target.attr("statusCallback"), strings.Fields(target.attr("statusCallbackEvent"))
	stop := context.AfterFunc(ctx, other.end)
	defer stop()
	c.s.add(other)
	status := other.runBridged(c.currentLeg(), target.attr("url"))
	if v.attr("action") == "" || ctx.Err() != nil && c.life.Err() == nil { // it was redirected
		return nil
	}
	other.mu.Lock()
	duration := other.duration
	other.mu.Unlock()
	said := url.Values{"DialCallStatus": {status}, "DialCallSid": {other.sid}, "DialCallDuration": {inSeconds(duration)}}
	if c.life.Err() != nil {
		said.Set("CallStatus", statusCompleted)
		_, _ = c.s.post(c.s.life, v.attr("action"), c.form(said)) // the caller has gone: nothing follows
		return nil
	}
	return c.ask(v.attr("action"), said)
}

// runBridged is the life of the other leg. It returns how it ended.
func (c *call) runBridged(caller *leg, whisperURL string) (status string) {
	defer c.told.close()
	c.s.start(func() { c.told.deliver(c.s) })
	c.tell(statusInitiated, "")
	if !c.connect() {
		return c.view()["status"].(string) //nolint:errcheck // view sets a string
	}
	status = statusCompleted
	if whisperURL != "" && !c.whisper(whisperURL) {
		status = statusNoAnswer // they did not take it
	} else {
		c.talk(caller)
	}
	c.finish(statusCompleted, "")
	return status
}

// whisper says to the person what the service wants said, and reports whether they are still there
// and to be connected.
func (c *call) whisper(target string) bool {
	d := c.ask(target, nil)
	if d == nil {
		return c.life.Err() == nil
	}
	for i := range d.Verbs {
		switch v := &d.Verbs[i]; v.XMLName.Local {
		case "Say":
			c.say(c.life, c.currentLeg(), v)
		case "Pause":
			_ = c.s.wait(c.life, secondsOf(v.attr("length"), time.Second)) // looked at below
		case "Hangup", "Reject":
			return false
		}
	}
	return c.life.Err() == nil
}

// talk has two legs hear each other until the call is over.
func (c *call) talk(caller *leg) {
	person := c.currentLeg()
	for p := c.s.pace(); p.next(c.life); {
		select {
		case <-caller.gone:
			return
		default:
		}
		pass(caller, person)
		pass(person, caller)
	}
}

// pass plays to one leg what is said, and pressed, on the other.
func pass(from, to *leg) {
	frame, keys := from.listen()
	to.play(frame)
	for _, digit := range keys {
		to.phone.notice(Event{Kind: EventDTMF, Digit: digit})
	}
}

// pace counts out frames in real time.
type pace struct {
	s  *Switchboard
	at time.Time
}

const frameLength = 20 * time.Millisecond

func (s *Switchboard) pace() *pace { return &pace{s: s, at: s.o.Now()} }

// next waits until the next frame is due; false: ctx has ended.
func (p *pace) next(ctx context.Context) bool {
	p.at = p.at.Add(frameLength)
	return p.s.wait(ctx, p.at.Sub(p.s.o.Now())) == nil
}
