package voice

import (
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// answer is an answer of the agent, until the client was sent its end.
type answer struct {
	responseID string
	turnID     sessions.TurnID
	// spoken says that its text is spoken.
	spoken bool
	// events are those that the client was not sent yet, in order. A gate among them waits for a
	// message's sound.
	events []turns.Event
	// messages are those that are spoken, in order.
	messages []*message
	// dropped are the messages that came, or were about to be said, when it was cut.
	dropped map[string]bool
	// begunAt is when it began. filled is set when a filler was said in it.
	begunAt time.Time
	filled  bool
	// protected says that speech does not interrupt it.
	protected bool
	// greeting says that it is the agent's first message.
	greeting bool
	// done is set when the conversation has ended the answer, cut when the user has.
	done, cut bool
	// reason is why it was cut.
	reason string
	// heard is the speech that it answers; nil: it answers something written.
	heard *turns.Heard
	// firstTokenAt is when its first words came. timed is set when Timing was sent.
	firstTokenAt time.Time
	timed        bool
	// behind says that it had to wait until something else was said.
	behind bool
}

// gate holds back what is behind a message until its sound was sent.
type gate struct{ message *message }

// IsEvent implements turns.Event. No client gets a gate.
func (gate) IsEvent() {}

// observe takes an event of the conversation. mu is held.
func (c *Call) observe(e turns.Event) {
	switch e := e.(type) {
	case turns.ResponseStarted:
		c.beginAnswer(e)
		return
	case turns.ResponseDone:
		c.endAnswer(e)
		return
	case live.ItemAdded:
		c.itemAdded(e)
		return
	case live.Failed:
		c.failed(e)
		return
	case turns.LeftToOperator:
		c.leftToOperator(e)
		return
	case turns.KeysWanted:
		c.press(Press{Digits: e.Digits})
		return
	case live.HandoverChanged:
		if e.Status == sessions.HandoverOperator { // a person goes on from here
			c.stopSpeaking(turns.ReasonClientCancelled)
			c.ears.taker.AgentDone()
		}
	case live.Configured:
		c.configured(e)
	case live.Closed:
		c.closed(e)
		return
	case live.Released:
		c.leaveRest()
		c.mute()
	}
	if a := c.open(turns.ResponseOf(e)); a != nil {
		c.content(a, e)
		return
	}
	c.out = append(c.out, e)
}

// open is the answer of a response that the conversation has not ended; nil: there is none.
func (c *Call) open(responseID string) *answer {
	for _, a := range c.answers {
		if a.responseID == responseID && !a.done {
			return a
		}
	}
	return nil
}

// beginAnswer begins an answer. One out of band is beside the conversation, and never spoken.
func (c *Call) beginAnswer(e turns.ResponseStarted) {
	if e.OutOfBand {
		c.out = append(c.out, e)
		return
	}
	e.Spoken = (e.Spoken || e.Greeting && !c.textOnly) && c.speaks()
	a := &answer{
		responseID: e.ResponseID, turnID: e.TurnID, spoken: e.Spoken, greeting: e.Greeting, heard: e.Heard, events: []turns.Event{e},
		begunAt: c.s.now(), dropped: map[string]bool{},
	}
	a.behind = len(c.answers) > 0 || c.player.isBusy()
	c.turnIndex, c.newestTurn = max(c.turnIndex, e.TurnIndex), max(c.newestTurn, e.TurnIndex)
	c.answers = append(c.answers, a)
	if c.unwanted[e.CommandID] {
		delete(c.unwanted, e.CommandID)
		c.cut(a, turns.ReasonTurnDetected, 0)
	}
	delete(c.asked, e.CommandID)
}

// spokenKept is how many of the last messages a client may still truncate by their sound.
const spokenKept = 32

// beginMessage begins a message that is spoken.
func (c *Call) beginMessage(a *answer, itemID string) {
	m := newMessage(a, itemID, c.language)
	m.protected = a.protected || a.greeting && c.protectsGreeting()
	a.messages = append(a.messages, m)
	c.spoken = append(c.spoken[max(0, len(c.spoken)+1-spokenKept):], m)
}

// dropMessage has nobody hear a message of an answer that was cut.
func (c *Call) dropMessage(a *answer, itemID string) {
	a.dropped[itemID] = true
	nothing := ""
	c.cutItem(live.Truncate{CommandID: cutCommand + itemID, ItemID: itemID, HeardText: &nothing})
}

// Speaks reports whether answers can be spoken.
func (c *Call) Speaks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speaks()
}

// speaks is Speaks with mu held.
func (c *Call) speaks() bool { return c.stack.Synthesizer != nil && !c.over }

// content takes an event within an answer.
func (c *Call) content(a *answer, e turns.Event) {
	switch e := e.(type) {
	case turns.MessageStarted:
		if a.spoken && a.cut {
			c.dropMessage(a, e.ItemID)
			return
		}
		if a.spoken {
			c.beginMessage(a, e.ItemID)
		}
	case turns.TextDelta:
		if a.cut {
			return
		}
		if a.firstTokenAt.IsZero() {
			a.firstTokenAt = c.s.now()
		}
		if m := a.message(e.ItemID); m != nil {
			c.speak(m, m.write(e.Text))
		}
	case turns.MessageDone:
		if a.dropped[e.ItemID] {
			return
		}
		if m := a.message(e.ItemID); m != nil && !a.cut {
			c.speak(m, m.end())
			a.events = append(a.events, gate{m})
		}
		e.Cut = e.Cut || a.cut
		a.events = append(a.events, e)
		return
	case turns.ToolDone:
		if tag, switched := turns.SwitchedLanguage(e); switched {
			c.setLanguage(tag)
		}
	}
	a.events = append(a.events, e)
}

// message is a spoken message of the answer; nil: there is none.
func (a *answer) message(itemID string) *message {
	for _, m := range a.messages {
		if m.itemID == itemID {
			return m
		}
	}
	return nil
}

// endAnswer takes the end of an answer, which the client is sent behind its sound.
func (c *Call) endAnswer(e turns.ResponseDone) {
	a := c.open(e.ResponseID)
	if a == nil {
		c.out = append(c.out, e)
		return
	}
	a.done = true
	if a.spoken && !a.cut {
		written := Written{ResponseID: e.ResponseID, Text: e.Text}
		if c.answers[0] == a { // the client has begun it, and need not wait for the sound
			c.out = append(c.out, written)
		} else {
			a.events = append(a.events, written)
		}
	}
	a.events = append(a.events, a.ended(e))
}

// ended is the end of an answer as the client sees it: cancelled, with what was heard, if it was
// cut.
func (a *answer) ended(e turns.ResponseDone) turns.ResponseDone {
	if a.cut && e.Status != turns.ResponseFailed {
		e.Status, e.Reason, e.Text = turns.ResponseCancelled, a.reason, a.heardText()
	}
	return e
}

// next returns the next event whose time has come. mu is held.
func (c *Call) next() (turns.Event, bool) {
	if len(c.out) > 0 {
		e := c.out[0]
		c.out = c.out[1:]
		return e, true
	}
	if e, is := c.nextOfAnswers(); is {
		return e, true
	}
	if e, is := c.nextAudio(); is {
		return e, true
	}
	return c.nextClosed()
}

// nextOfAnswers returns the next event of an answer that does not wait for sound.
func (c *Call) nextOfAnswers() (turns.Event, bool) {
	for len(c.answers) > 0 {
		a := c.answers[0]
		if len(a.events) == 0 {
			break
		}
		if g, is := a.events[0].(gate); is && !c.muted && !a.cut && !g.message.isSent() {
			break
		}
		e := a.events[0]
		a.events = a.events[1:]
		if _, is := e.(gate); is {
			continue
		}
		if _, is := e.(turns.ResponseDone); is {
			c.answered(a)
		}
		if started, is := e.(turns.MessageStarted); is {
			a.startMessage(started.ItemID)
		}
		return e, true
	}
	return nil, false
}

// answered ends an answer whose end the client is being sent.
func (c *Call) answered(a *answer) {
	c.answers = slices.DeleteFunc(c.answers, func(other *answer) bool { return other == a })
	if len(c.answers) == 0 && !a.cut {
		c.ears.taker.AgentDone()
		c.recordActivity()
		c.player.failed = false
	}
}

// itemAdded passes an item on, and tells what was said in the user's own.
func (c *Call) itemAdded(e live.ItemAdded) {
	c.newestTurn = max(c.newestTurn, e.Item.TurnIndex)
	if c.own[e.Item.ID] { // the client has it as an answer
		delete(c.own, e.Item.ID)
		return
	}
	if e.Item.Operator != "" && c.speaks() && !c.textOnly && !c.muted {
		c.utter(e.Item.ID, e.Item.TurnIndex, sentence{text: e.Item.Text})
		return
	}
	c.out = append(c.out, e)
	if e.Item.Audio == nil || !live.IsOfCall(e.CommandID) {
		return
	}
	if e.Item.Audio.Transcribed {
		c.out = append(c.out, Transcribed{ItemID: e.Item.ID, Text: e.Item.Text, Seconds: float64(e.Item.Audio.LengthMS) / 1000})
		return
	}
	why := c.ears.unknown[e.Item.ID]
	delete(c.ears.unknown, e.Item.ID)
	c.out = append(c.out, NotTranscribed{ItemID: e.Item.ID, Err: why})
}

// failed takes the error of a command. The client did not give those of the call.
func (c *Call) failed(e live.Failed) {
	item, cuts := strings.CutPrefix(e.CommandID, cutCommand)
	switch {
	case !live.IsOfCall(e.CommandID):
		c.out = append(c.out, e)
	case !cuts: // an utterance was not stored, or not answered
		delete(c.asked, e.CommandID)
		c.ears.taker.AgentDone()
		e.CommandID = ""
		c.out = append(c.out, e)
	case c.cuts[item].ItemID != "" && mayPass(e.Err): // nothing to cancel is none of these
		c.noteCut(item)
	}
}

// leftToOperator takes that no answer follows, because a person has the conversation. The client
// did not ask for the call's own.
func (c *Call) leftToOperator(e turns.LeftToOperator) {
	if !live.IsOfCall(e.CommandID) {
		c.out = append(c.out, e)
		return
	}
	delete(c.asked, e.CommandID)
	delete(c.unwanted, e.CommandID)
	c.ears.taker.AgentDone()
}

// maxFarewell bounds how long the end of a conversation waits for what the agent says last.
const maxFarewell = time.Minute

// closed takes the end of the conversation, or of the socket's part in it. What the agent said
// before it hung up is said to its end, and the user does not interrupt it: nothing that they say
// can be answered any more.
func (c *Call) closed(e live.Closed) {
	c.closing, c.closeBy = &e, c.s.now().Add(maxFarewell)
	if c.ended = e.Ended; c.ended {
		c.ears.end()
	}
	switch {
	case !e.Ended: // another socket takes over, or has
		c.movesOn = true
		c.leaveRest()
		c.mute()
	case e.Reason == sessions.ReasonEndCall, e.Reason == sessions.ReasonIdle, e.Reason == sessions.ReasonBudget:
		c.player.resume()
	default:
		c.stopSpeaking(turns.ReasonClientCancelled)
		c.mute()
	}
}

// nextClosed returns the conversation's Closed once nothing is before it.
func (c *Call) nextClosed() (turns.Event, bool) {
	if c.closing == nil {
		return nil, false
	}
	now := c.s.now()
	if !c.muted && now.Before(c.closeBy) && (c.player.isBusy() || c.player.ahead(now) > 0) {
		return nil, false
	}
	if len(c.answers) > 0 { // what is behind sound that is not sent any more
		c.mute()
		if e, is := c.nextOfAnswers(); is {
			return e, true
		}
		c.answers = nil // what comes of them is for another socket
	}
	e := *c.closing
	c.closing = nil
	return e, true
}

// mute has nothing more said: the rest of the answers is text.
func (c *Call) mute() {
	c.muted = true
	c.player.drop()
}
