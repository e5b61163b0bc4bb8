package sessions

import (
	"time"
)

// A turn without a socket whose node was lost is answered again by whoever asks for it, on any node: who
// follows it, or repeats its request with the same Idempotency-Key. A socket of its session does too, as
// with turns of its own (lost.go). What its calls came to is kept; without calls it is answered anew.
//
//	running ──lease over──► awaited ──► running (another answer, where it is followed)
//	                           │ nobody asks for againGrace
//	                           └──► failed
//
// An awaited turn looks like one that runs, but for its lease. Nothing else of the session is answered before.

// againGrace is how long a lost turn waits for those who ask for it: clients come back within seconds.
const againGrace = 10 * time.Second

// awaited says that the turn that runs was lost, and left to those who ask for it.
func (s *Session) AwaitsResume(now time.Time) bool {
	return s.RunningTurnID != "" && s.RunningResponseID == "" && s.EndingAt.IsZero() &&
		!s.RunningUntil.After(now) && s.RunningUntil.Add(againGrace).After(now)
}
