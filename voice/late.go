package voice

import (
	"time"

	"parlance.dev/parlance/voice/hearing/vad"
)

// stall is a time in which a client sent nothing and was taken to be silent. When what it has said
// in that time comes after all, silence was heard that never was. It is taken back by dropping as
// much background of what comes later, so that audio time stays that of the client.
type stall struct {
	// at is when the client sent the last sound before it, and heardMS the audio time then.
	at      time.Time
	heardMS int
	// silenceMS is how much silence was heard that may have to be taken back.
	silenceMS int
}

// hearMissing hears the silence of a client that sends nothing. mu is held.
func (c *Call) hearMissing(missing time.Duration, now time.Time) {
	e := &c.ears
	if !e.stall.at.Equal(e.lastAppend) && (e.stall.silenceMS == 0 || c.aheadMS(now) <= 0) { // what was heard in the last one is true
		e.stall = stall{at: e.lastAppend, heardMS: c.heardMS()}
	}
	e.stall.silenceMS += int(missing / time.Millisecond)
	e.fedUntil = now
	c.listen(silence(missing))
}

// aheadMS is how much more was heard since the last stall than time has passed.
func (c *Call) aheadMS(now time.Time) int {
	return c.heardMS() - c.ears.stall.heardMS - int(now.Sub(c.ears.stall.at)/time.Millisecond)
}

// isTooMuch reports whether a piece of the user's sound is background that is dropped in place of
// silence that never was. mu is held.
func (c *Call) isTooMuch(samples []int16, now time.Time) bool {
	e, length := &c.ears, len(samples)/samplesPerMS
	if e.stall.silenceMS < length || c.aheadMS(now) < length || c.manual() || !e.taker.IsBackground(vad.LevelDB(samples)) {
		return false
	}
	e.stall.silenceMS -= length
	return true
}
