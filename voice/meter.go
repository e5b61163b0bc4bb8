package voice

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/usage"
)

// MeterFunc counts what was used. It may be called again with what it has counted: records are
// counted once.
type MeterFunc func(ctx context.Context, place usage.Place, records ...usage.Record) error

const (
	// meterPause is how long what could not be counted waits.
	meterPause = time.Second
	// meterTimeout bounds the counting of one record.
	meterTimeout = 5 * time.Second
	// maxUncounted bounds what waits while the database is away: some hours of 300 calls.
	maxUncounted = 100_000
)

// meter counts what calls use, in the background: no call waits for the database.
type meter struct {
	count MeterFunc
	life  context.Context //nolint:containedctx // the life of the goroutine that counts
	start func(func())

	mu       sync.Mutex
	waiting  []used
	counting bool
}

// used is something that was used.
type used struct {
	place  usage.Place
	record usage.Record
}

// add has a record counted.
func (m *meter) add(place usage.Place, record usage.Record) {
	if m.count == nil || record.Quantity <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) < maxUncounted {
		m.waiting = append(m.waiting, used{place, record})
	}
	if !m.counting {
		m.counting = true
		m.start(m.run)
	}
}

// run counts until nothing waits.
func (m *meter) run() {
	for {
		m.mu.Lock()
		if len(m.waiting) == 0 || m.life.Err() != nil {
			m.counting = false
			m.mu.Unlock()
			return
		}
		next := m.waiting[0]
		m.mu.Unlock()
		if !m.countOne(next) {
			select {
			case <-time.After(meterPause):
			case <-m.life.Done():
			}
			continue
		}
		m.mu.Lock()
		m.waiting = m.waiting[1:]
		m.mu.Unlock()
	}
}

// countOne counts a record, and reports whether it could.
func (m *meter) countOne(u used) bool {
	ctx, cancel := context.WithTimeout(m.life, meterTimeout)
	defer cancel()
	return m.count(ctx, u.place, u.record) == nil
}

// meter counts something that the call used. mu is held.
func (c *Call) meter(kind usage.Meter, source, model string, quantity int) {
	c.s.meter.add(
		usage.Place{Workspace: c.session.Ref(), AgentID: string(c.session.AgentID), At: c.s.now()},
		usage.Record{Source: source, Meter: kind, Model: model, Quantity: int64(quantity)},
	)
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
	c.unmeteredMS += u.lengthMS
	seconds := c.unmeteredMS / 1000
	c.unmeteredMS -= 1000 * seconds
	c.meter(usage.SpeechSeconds, u.itemID, c.stack.TranscriberName, seconds)
}

// meterSpoken counts the characters that were synthesized of a message. mu is held.
func (c *Call) meterSpoken(s *segment) {
	c.meter(usage.SpeechCharacters, s.id, c.stack.SynthesizerName, utf8.RuneCountInString(s.piece.Text))
}
