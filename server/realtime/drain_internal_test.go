package realtime

import (
	"log/slog"
	"testing"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
)

// player is a dialect whose client says what it has played.
type player struct {
	dialect.Dialect
	drained bool
}

func (p *player) Drained() bool                  { return p.drained }
func (p *player) Frame([]byte) dialect.Step      { return dialect.Step{} }
func (p *player) Close(int, string) dialect.Step { return dialect.Step{} }

// TestDrain: a socket whose session has ended is closed when the client has played what was said;
// one that was replaced is closed at once.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{true, false} {
		p := &player{}
		s := &socket{
			wake: make(chan struct{}, 1), log: slog.New(slog.DiscardHandler), limits: &Limits{DrainTimeout: time.Hour},
			dialect: &resumable{dialect: p, buffer: newReplayBuffer(nil)},
		}
		s.finishDrained(live.Closed{Code: live.CloseEnded, Reason: "end_call", Ended: ended})
		if s.ended == ended {
			t.Errorf("a session that has ended (%t): the socket has too: %t", ended, s.ended)
		}
		s.endIfDrained()
		if ended && s.ended {
			t.Error("closed before all was played")
		}
		p.drained = true
		s.endIfDrained()
		if !s.ended || s.end.code != closeNormal || s.end.reason != "end_call" {
			t.Errorf("ended %t with %+v", s.ended, s.end)
		}
	}
}
