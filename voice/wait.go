package voice

import (
	"time"

	"parlance.dev/parlance/voice/hearing"
)

// idle takes that nobody has spoken for a while. mu is held.
func (c *Call) idle(e hearing.Event) {
	c.out = append(c.out, SilenceNoted{FromMS: e.FromMS, ToMS: e.ToMS})
}

// keepWaiting does what is due while the user waits. mu is held.
func (c *Call) keepWaiting(time.Time) {}

// protectsGreeting reports whether speech does not interrupt the agent's first message.
func (c *Call) protectsGreeting() bool { return false }
