package live

import (
	"context"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// accepted is what became of what the user said: the turn that has it, or why it could not be
// written down.
type accepted struct {
	turn sessions.Turn
	err  error
}

// ask takes what the user said and the wish for an answer to it. When nothing is in the way the
// answer's runner writes both down, and the engine waits until it has: nothing that comes later may
// be written down before.
func (e *engine) ask(live *Live, c Ask) {
	if !e.free() || !c.Wish.plain() || !turns.IsSayable(c.Said.Text) {
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
	start := e.startOf("")
	start.Turn, start.Said = sessions.TurnID(idgen.New(idgen.Turn)), []sessions.Message{said}
	came := make(chan accepted, 1) // called once
	start.Accepted = func(turn sessions.Turn, err error) { came <- accepted{turn, err} }
	turnCtx, run, r := e.ready(respond{live: live, command: c.Wish, asked: e.s.sessions.Now()}, start)
	e.client.heard()
	e.launch(turnCtx, run, r)
	written := <-came
	if written.err != nil { // the answer's end follows
		e.refuseSaid(ctx, live, c.Said.CommandID, written.err)
		return
	}
	run.open = true
	e.tellSaid(live, c.Said.CommandID, written.turn, said)
}

// free says that an answer to something new would begin at once.
func (e *engine) free() bool {
	return e.current == nil && e.watching == "" && len(e.waiting) == 0 && e.ending == nil && e.unanswered == ""
}
