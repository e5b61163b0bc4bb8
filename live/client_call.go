package live

import (
	"time"

	"parlance.dev/parlance/sessions"
)

// clientCall is a call that waits for the client's result.
type clientCall struct {
	sessions.OpenCall

	// live asked for the answer; nil when the call is older than the engine.
	live  *Live
	timer *time.Timer
}

// clientCalls are the calls of a session that wait for the client's results.
type clientCalls struct {
	waiting map[string]*clientCall // by call id
	// spoken says that the user has spoken since the calls: the next answer does not wait for
	// results.
	spoken bool
	// results counts the results since the last answer began.
	results int
	// duplicates counts the Responds still expected for results that the last answer has taken
	// together.
	duplicates int
}

func newClientCalls() clientCalls { return clientCalls{waiting: map[string]*clientCall{}} }

// blocked reports whether the next answer must wait for results.
func (c *clientCalls) blocked() bool { return len(c.waiting) > 0 && !c.spoken }

// userSpoke records that the user said something.
func (c *clientCalls) userSpoke() { c.spoken, c.duplicates = true, 0 }

// answerStarted records that an answer begins, which takes all results there are.
func (c *clientCalls) answerStarted() {
	c.duplicates = max(0, c.results-1)
	c.results, c.spoken = 0, false
}

// skipDuplicate reports whether a Respond is to be dropped: SDKs send one for each result of
// parallel calls, and one answer takes all results.
func (c *clientCalls) skipDuplicate(r Respond) bool {
	if c.duplicates == 0 || !r.mayBeDuplicate() {
		return false
	}
	c.duplicates--
	return true
}

// resolve removes a call; false when it did not wait.
func (c *clientCalls) resolve(id string) bool {
	call, waited := c.waiting[id]
	if waited {
		call.timer.Stop()
		delete(c.waiting, id)
	}
	return waited
}

// stop ends the calls' timers.
func (c *clientCalls) stop() {
	for id := range c.waiting {
		c.resolve(id)
	}
}
