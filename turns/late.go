package turns

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
)

// detach is a context for a call that goes on without its caller. It ends after maxCallTime or with
// the node.
func (s *Service) detach(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxCallTime)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// launch runs a call beside the turn, at most maxParallelCalls at a time.
func (r *Runner) launch(ctx context.Context, p *pendingCall, slots chan struct{}, running *sync.WaitGroup) {
	recorded := r.recorded
	work := func() {
		if p.after != nil {
			select {
			case <-p.after:
			case <-ctx.Done():
			}
		}
		select {
		case slots <- struct{}{}:
			p.result = r.runCall(ctx, p)
			<-slots
		case <-ctx.Done():
			p.result = r.refuse(ctx, p, sessions.CodeUnfinished, sessions.OutputUnfinished)
		}
		if p.late.done() {
			close(p.done)
			return
		}
		<-recorded // the turn's end would overwrite the result
		r.S.recordLateResult(ctx, p)
	}
	if p.known && !p.entry.Idempotent() && r.S.TryGo(work) {
		p.detached = true
		return
	}
	running.Go(work)
}

// awaitResult is a call's result, or "unknown" when the answer was cancelled and the call goes on.
func (r *Runner) awaitResult(ctx context.Context, p *pendingCall) sessions.Message {
	if p.detached {
		select {
		case <-p.done:
		case <-ctx.Done():
			grace := time.NewTimer(cancelGrace)
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

// recordLateResult replaces "unknown" by the call's result, and stores the variables that it
// assigned.
func (s *Service) recordLateResult(ctx context.Context, p *pendingCall) {
	if s.life.Err() != nil {
		return // the node's end has cut it off: "unknown" is the truth
	}
	s.addResults(ctx, ResultParams{
		Session: p.session, Turn: sessions.TurnID(p.params.TurnID), Results: []sessions.Message{p.result}, Assigned: p.assigned,
	})
}
