package voice

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/usage"
)

// MeterFunc counts what was used. It may be called again with what it has counted: records are
// counted once.
type MeterFunc func(ctx context.Context, place usage.Place, records ...usage.Record) error

// meter counts something that the call used. mu is held.
func (c *Call) meter(kind usage.Meter, source, model string, quantity int) {
	count := c.s.deps.MeterFunc
	if count == nil || quantity <= 0 {
		return
	}
	place := usage.Place{Workspace: c.session.Ref(), AgentID: string(c.session.AgentID), At: c.s.now()}
	record := usage.Record{Source: source, Meter: kind, Model: model, Quantity: int64(quantity)}
	c.s.notes.add(func(ctx context.Context) error { return count(ctx, place, record) })
}

// meterMinutes counts each minute of the session in which a voice socket was open, once. mu is
// held.
func (c *Call) meterMinutes(now time.Time) {
	minute := int(now.Sub(c.session.StartedAt) / time.Minute)
	if minute == c.minute {
		return
	}
	c.minute = minute
	c.meter(usage.VoiceMinutes, fmt.Sprintf("%s:voice:%d", c.session.ID, minute), "", 1)
}

// meterHeard counts what was transcribed of an utterance, in whole seconds; the rest is counted
// with the next one. mu is held.
func (c *Call) meterHeard(u *utterance) {
	c.unmeteredMS += u.lengthMS + u.wastedMS
	seconds := c.unmeteredMS / 1000
	c.unmeteredMS -= 1000 * seconds
	c.meter(usage.SpeechSeconds, u.itemID, c.stack.TranscriberName, seconds)
}

// meterSpoken counts the characters that were synthesized of a message. mu is held.
func (c *Call) meterSpoken(s *segment) {
	c.meter(usage.SpeechCharacters, s.id, c.stack.SynthesizerName, utf8.RuneCountInString(s.piece.Text))
}
