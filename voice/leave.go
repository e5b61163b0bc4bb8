package voice

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// A call is over when its socket is gone and the words of what the user has said last are known:
//
//	Leave, hung up or lost ──► cut ──► last words, which nobody answers ──► over
//	Detach ──► cut, the rest is left ──► last words, which are answered ──► over
//	Closed, but the session goes on ──► the same, while the client's next socket is served

// lastWordsWithin is how long the words of somebody who is gone are waited for by default.
const lastWordsWithin = 2 * time.Second

// Leave is live.Live's. What was being said is cut to what was heard. When the conversation goes on
// with another socket of the client, nobody waits for the last words.
func (c *Call) Leave(how live.Leaving) {
	c.mu.Lock()
	if c.left {
		c.mu.Unlock()
		c.Live.Leave(how)
		return
	}
	c.leave()
	movesOn := c.movesOn
	if !movesOn {
		c.stopSpeaking(turns.ReasonClientCancelled)
	}
	c.mu.Unlock()
	if movesOn {
		c.s.workers.Go(c.end)
	} else {
		c.end()
	}
	c.Live.Leave(how)
}

// Detach is live.Live's. An answer that was written is cut to what was heard, and the next call of
// the session says the rest; one that is still being written continues as text.
func (c *Call) Detach() {
	c.mu.Lock()
	c.leave()
	c.movesOn = true
	c.leaveRest()
	c.mu.Unlock()
	c.end()
	c.Live.Detach()
}

// leave has the clock not move the call any more. mu is held.
func (c *Call) leave() {
	c.left = true
	c.s.remove(c)
}

// end hands what the user said last to the conversation, and ends what is heard and said.
func (c *Call) end() {
	c.awaitLastWords()
	_ = c.pass(c.life) // session-closed: nobody comes back
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.endLife()
	c.ears.end()
	c.mute()
	c.stack.close()
	c.closeRecording()
}

// awaitLastWords waits for the words of what the user said last, so that the transcript has them,
// and the keys that were pressed. Somebody who does not come back is not answered.
func (c *Call) awaitLastWords() {
	c.mu.Lock()
	if c.ears.current != nil {
		c.follow(c.ears.taker.Commit())
	}
	if c.keys.pressed.Len() > 0 {
		c.afterWords(c.takePressed())
	}
	for _, u := range c.ears.pending {
		u.respond = u.respond && c.movesOn
	}
	if len(c.ears.pending) == 0 {
		c.mu.Unlock()
		return
	}
	known := make(chan struct{})
	c.ears.known = known
	c.mu.Unlock()
	late := time.NewTimer(c.s.deps.LastWordsWithin)
	defer late.Stop()
	select {
	case <-known:
		return
	case <-late.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands = append(c.commands, c.ears.behind...)
	c.ears.behind = nil
}

// leaveRest cuts what is being said to what was heard, and leaves the rest to the next call of the
// session: the one that has replaced this, or that of a client that comes back. What the model is
// still writing continues as text. mu is held.
func (c *Call) leaveRest() {
	if c.over {
		return
	}
	c.cutAnswers(turns.ReasonClientCancelled, func(a *answer) bool { return a.done })
	c.s.leaveRest(c, rest{text: c.rest, turn: c.newestTurn, leftAt: c.s.now()})
}

// takeRest goes on with what another call of the session had still to say. mu is held.
func (c *Call) takeRest(r rest) {
	c.rest = r.text
	c.sayRest()
}

// SaidFunc stores what a user has said in a session whose conversation has left this node, as the
// turn with the id. It may be called again.
type SaidFunc func(ctx context.Context, session sessions.Session, turn sessions.TurnID, message sessions.Message) error

// noteLast notes what was heard and said, for a conversation that has left this node.
func (c *Call) noteLast(commands []live.Command) {
	for _, command := range commands {
		switch command := command.(type) {
		case live.Truncate:
			if command.HeardText != nil {
				c.noteCut(command.ItemID)
			}
		case live.Ask:
			c.noteSaid(command.Message)
		case live.UserMessage:
			c.noteSaid(command)
		}
	}
}

// noteSaid has what the user has said stored beside the conversation. Clients send again what they
// have written.
func (c *Call) noteSaid(m live.UserMessage) {
	store := c.s.deps.SaidFunc
	if store == nil || !live.IsOfCall(m.CommandID) {
		return
	}
	message := sessions.Message{Role: sessions.RoleUser, ItemID: m.ItemID, Text: m.Text, Audio: m.Audio}
	c.mu.Lock()
	session, turn := c.session, sessions.TurnID(idgen.New(idgen.Turn))
	c.mu.Unlock()
	c.s.notes.add(func(ctx context.Context) error {
		err := store(ctx, session, turn, message)
		if fault.IsReason(err, fault.SessionClosed) {
			return nil // nobody was left to hear it
		}
		return err
	})
}

// noteCut has what was heard of an item noted beside the conversation, until that has succeeded.
func (c *Call) noteCut(item string) {
	c.s.notes.add(func(ctx context.Context) error {
		c.mu.Lock()
		cut := c.cuts[item]
		c.mu.Unlock()
		return c.CutHeard(ctx, cut)
	})
}
