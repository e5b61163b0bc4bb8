package live

import (
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/ahead"
)

// anticipate has the model asked for the answer to what the user has probably said, when an answer
// to it would begin at once.
func (e *engine) anticipate(live *Live, c Anticipate) {
	if e.ahead != nil && e.ahead.Text == c.Text {
		return
	}
	e.dropAhead()
	if !e.canStartNow() || !turns.IsSayable(c.Text) {
		return
	}
	r := e.newRunner(answerRequest{live: live}, &answer{})
	r.Start.Turn = sessions.TurnID(idgen.New(idgen.Turn))
	r.Start.Said = []sessions.Message{{Role: sessions.RoleUser, Text: c.Text}}
	e.ahead = r.AskAhead(e.s.life)
}

// dropAhead gives up the answer that was asked for ahead.
func (e *engine) dropAhead() {
	e.ahead.Drop()
	e.ahead = nil
}

// takeAhead returns the answer that was asked for ahead to what the user has said now; nil: there
// is none. One to something else is dropped.
func (e *engine) takeAhead(said string) *ahead.Answer {
	answer := e.ahead
	e.ahead = nil
	if answer != nil && answer.Text == said {
		return answer
	}
	answer.Drop()
	return nil
}
