package turns

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
)

// A call that is not idempotent is never cut short: it may have happened already. When its answer
// is cancelled (the user interrupts, the client hangs up, the session ends) and it is not done
// within lateGrace, the turn is recorded with the result "unknown", and the call goes on by itself.
// What comes of it takes the place of "unknown" in the transcript, where the next turn finds it.
// Should this node die meanwhile, "unknown" stays, and is the truth.

// latch is decided once: the call is done, or the turn has gone on without it.
type latch struct{ state atomic.Int32 }

const (
	latchDone = iota + 1
	latchLeft
)

// done says that the call has its result in time.
func (l *latch) done() bool { return l.state.CompareAndSwap(0, latchDone) }

// leave says that the turn goes on without the call.
func (l *latch) leave() bool { return l.state.CompareAndSwap(0, latchLeft) }

// launch runs a call beside the turn, at most maxParallelCalls at a time.
func (r *Runner) launch(ctx context.Context, p *pendingCall, slots chan struct{}, running *sync.WaitGroup) {
	recorded := r.recorded
	work := func() {
		select {
		case slots <- struct{}{}:
			p.result = r.runCall(ctx, p)
			<-slots
		case <-ctx.Done():
			p.result = r.refused(p, r.S.sessions.Now(), sessions.CodeUnfinished, sessions.OutputUnfinished)
		}
		if p.late.done() {
			close(p.done)
			return
		}
		<-recorded // or the turn's end would write over it
		r.S.recordLate(ctx, p)
	}
	if p.known && !p.entry.Idempotent() && r.S.goLate(work) {
		p.mayLeave = true
		return
	}
	running.Go(work)
}

// goLate runs work on the node, so that Close waits for it; false when the node is being stopped.
func (s *Service) goLate(work func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.workers.Go(work)
	return true
}

// await is a call's result, or that it is not known yet when the answer was cancelled meanwhile.
func (r *Runner) await(ctx context.Context, p *pendingCall) sessions.Message {
	if p.mayLeave {
		select {
		case <-p.done:
		case <-ctx.Done():
			grace := time.NewTimer(lateGrace)
			defer grace.Stop()
			select {
			case <-p.done:
			case <-grace.C:
				if p.late.leave() {
					return r.refused(p, r.S.sessions.Now(), sessions.CodeUnknown, sessions.OutputLate)
				}
			}
		}
	}
	<-p.done
	return p.result
}

// outlive is a context for a call that goes on without its caller: it ends after maxCallTime, or
// with the node.
func (s *Service) outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxCallTime)
	stop := context.AfterFunc(s.live, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// recordLate puts a result in the place of "unknown", and the variables it assigned into the
// session.
func (s *Service) recordLate(ctx context.Context, p *pendingCall) {
	if s.live.Err() != nil {
		return // it was cut off with the node: "unknown" is the truth
	}
	s.addResults(ctx, ResultParams{
		Session: sessions.Session{TenantID: p.params.Ref.TenantID, ID: sessions.ID(p.params.SessionID)},
		Turn:    sessions.TurnID(p.params.TurnID), Results: []sessions.Message{p.result}, Assigned: p.assigned,
	})
}

// addResults puts results in the place of "unknown" ones, and variables into the session.
func (s *Service) addResults(ctx context.Context, p ResultParams) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	if err := s.store.AddResults(ctx, p); err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		s.log.ErrorContext(ctx, "late result of a call not recorded", "session_id", p.Session.ID, "turn_id", p.Turn, "error", err)
	}
}
