package live

import (
	"context"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// ask takes what the user said and the wish for an answer to it.
func (e *engine) ask(live *Live, c Ask) {
	if !e.free() || !c.Wish.plain() || !turns.IsSayable(c.Said.Text) || e.s.turns.Offline() {
		e.hear(live, c.Said)
		e.respond(live, c.Wish)
		return
	}
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	said := sessions.Message{Role: sessions.RoleUser, ItemID: c.Said.ItemID, After: c.Said.After, Text: c.Said.Text}
	if refused := e.name(ctx, &said); refused != nil {
		live.push(Failed{CommandID: c.Said.CommandID, Err: refused})
		e.respond(live, c.Wish)
		return
	}
	start := e.startOf(sessions.TurnID(idgen.New(idgen.Turn)), said.Text)
	turnCtx, run, r := e.ready(respond{live: live, command: c.Wish}, start)
	turnCtx, span, l := r.Depart(turnCtx)
	var begun bool
	var session sessions.Session
	var turn sessions.Turn
	err := e.s.turns.Attached(ctx, e.id, func(ctx context.Context) (err error) {
		session, turn, begun, err = e.s.turns.QuickAsk(ctx, r.Start, said)
		return err
	})
	if err != nil || !begun { // its trace is of nothing, and is left
		r.Ahead.Stop()
		e.s.turns.Release(start.Turn, l)
		run.cancel(nil)
		if err != nil {
			e.unheard.turn, e.unheard.response = start.Turn, r.Start.Response
		}
		if e.acceptNamed(live, c.Said.CommandID, start.Turn, said) {
			e.client.heard()
		}
		e.respond(live, c.Wish)
		return
	}
	e.s.mu.Lock()
	l.Begun = true
	e.s.mu.Unlock()
	r.Start.Early = &turns.BegunEarly{Ctx: turnCtx, Span: span, Lease: l, Session: session, Turn: turn}
	e.recall.SetOpen(turn)
	e.recall.Began(session, turn)
	live.hush(true) // ResponseStarted is right behind it
	e.heard(live, c.Said.CommandID, turn, said)
	live.hush(false)
	e.client.heard()
	e.launch(turnCtx, run, r)
}

// free says that an answer to something new would begin at once.
func (e *engine) free() bool {
	return e.current == nil && e.watching == "" && len(e.waiting) == 0 && e.ending == nil && e.unanswered == ""
}
