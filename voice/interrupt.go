package voice

import (
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/turns"
)

// stopSpeaking ends all answers that are being said, or about to be. Their text is cut to what was
// heard. mu is held.
func (c *Call) stopSpeaking(reason string) {
	c.cutAnswers(reason, func(*answer) bool { return true })
}

// cutAnswers ends those of the answers that are being said, or about to be. Nothing more is said of
// the others either, and their text stays. mu is held.
func (c *Call) cutAnswers(reason string, these func(*answer) bool) {
	now := c.s.now()
	unheard := c.player.ahead(now)
	c.rest = ""
	for i := len(c.answers) - 1; i >= 0; i-- {
		a := c.answers[i]
		switch {
		case !a.spoken || a.cut:
		case these(a):
			unheard = c.cut(a, reason, unheard)
			c.rest = strings.TrimSpace(a.unheard() + " " + c.rest)
		default:
			unheard -= min(unheard, a.sent())
		}
	}
	if len(c.player.queue) > 0 {
		c.markAgent(c.player.queue[0])
	}
	c.recording.cut(now)
	c.player.dropSpeech()
	c.player.until = now
}

// cut ends an answer where the user has stopped to listen: unheard is how much of what was sent was
// not played, and what is left of it belongs to the answer before. mu is held.
func (c *Call) cut(a *answer, reason string, unheard time.Duration) time.Duration {
	a.cut, a.reason = true, reason
	c.out = append(c.out, Interrupted{ResponseID: a.responseID})
	for i := len(a.messages) - 1; i >= 0; i-- {
		m := a.messages[i]
		sent := m.sent()
		listened := max(0, sent-unheard)
		unheard -= sent - listened
		c.cutMessage(m, listened)
	}
	if !a.done {
		c.commands = append(c.commands, live.Cancel{
			CommandID: cutCommand + a.responseID, ResponseID: a.responseID, Speech: reason == turns.ReasonTurnDetected,
		})
	}
	a.events = a.cutEvents()
	return unheard
}

// sent is how much of the answer's sound was sent.
func (a *answer) sent() (d time.Duration) {
	for _, m := range a.messages {
		d += m.sent()
	}
	return d
}

// cutEvents are the events that the client is still sent of an answer that was cut: none of
// messages that it does not know.
func (a *answer) cutEvents() (events []turns.Event) {
	for _, m := range a.messages {
		a.dropped[m.itemID] = !m.started
	}
	for _, e := range a.events {
		switch e := e.(type) {
		case turns.MessageStarted:
			if !a.dropped[e.ItemID] {
				events = append(events, e)
			}
		case turns.TextDelta, gate, Written:
		case turns.MessageDone:
			if e.Cut = true; !a.dropped[e.ItemID] {
				events = append(events, e)
			}
		case turns.ResponseDone:
			events = append(events, a.ended(e))
		default:
			events = append(events, e)
		}
	}
	return events
}

// cutMessage has the conversation keep what was heard of a message.
func (c *Call) cutMessage(m *message, listened time.Duration) {
	text := m.heard(listened)
	m.listened = &text
	if m.filler || m.written && m.isSent() && listened >= m.sent() {
		return // the conversation does not know it, or all of it was heard
	}
	c.cutItem(live.Truncate{
		CommandID: cutCommand + m.itemID, ItemID: m.itemID, AudioEndMS: int(listened / time.Millisecond), HeardText: &text,
	})
}

// cutItem has the conversation keep what was heard of an item. mu is held.
func (c *Call) cutItem(cut live.Truncate) {
	c.cuts[cut.ItemID] = cut
	c.commands = append(c.commands, cut)
}

// unheard is what nobody has heard of an answer that was cut; empty while the model was still
// writing it.
func (a *answer) unheard() string {
	if !a.done {
		return ""
	}
	var rest []string
	for _, m := range a.messages {
		if m.listened != nil && !m.filler {
			rest = append(rest, strings.TrimSpace(strings.TrimPrefix(m.text.String(), *m.listened)))
		}
	}
	return strings.Join(rest, " ")
}

// sayRest goes on with what was cut last, as an answer of its own: the interruption was none. mu is
// held.
func (c *Call) sayRest() {
	if rest := c.rest; rest != "" && !c.muted {
		c.rest = ""
		c.say(sentence{text: rest})
	}
}

// takeBack takes the answer back to what the user has said before they went on: nothing of it was
// heard. mu is held.
func (c *Call) takeBack() {
	c.s.deps.Metrics.takenBack()
	for commandID := range c.asked { // its answer has not begun
		c.unwanted[commandID] = true
	}
	clear(c.asked)
	c.stopSpeaking(turns.ReasonTurnDetected)
}

// cancel stops an answer for the client. One that the conversation has ended may still be spoken.
// mu is held.
func (c *Call) cancel(command live.Cancel) {
	for _, a := range c.answers {
		if a.spoken && !a.cut && (command.ResponseID == "" || command.ResponseID == a.responseID) {
			reason := turns.ReasonClientCancelled
			if command.Speech {
				reason = turns.ReasonTurnDetected
			}
			c.stopSpeaking(reason)
			c.ears.taker.AgentDone()
			return
		}
	}
	c.commands = append(c.commands, command)
}

// maxAheadOfSent is how much more than was sent a client may say to have played: its clock is
// another.
const maxAheadOfSent = time.Second

// truncate takes a client's Truncate, with the words that it has heard if the call knows them. mu
// is held.
func (c *Call) truncate(command live.Truncate) {
	at := slices.IndexFunc(c.spoken, func(m *message) bool { return m.itemID == command.ItemID })
	if at >= 0 {
		m, sent := c.spoken[at], c.spoken[at].sent()
		if time.Duration(command.AudioEndMS) > (sent+maxAheadOfSent)/time.Millisecond {
			c.out = append(c.out, live.Failed{CommandID: command.CommandID, Err: fault.InvalidField("audio_end_ms", "range",
				"Audio content of %dms is already shorter than %dms.", sent.Milliseconds(), command.AudioEndMS)})
			return
		}
		text := m.heard(time.Duration(command.AudioEndMS) * time.Millisecond)
		command.HeardText = &text
		c.cutItem(command)
		return
	}
	c.commands = append(c.commands, command)
}
