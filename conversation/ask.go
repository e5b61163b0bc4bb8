package conversation

import (
	"context"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
)

// What a user says is mostly followed by the wish for an answer at once. Then both are one round trip: the turn
// is stored with its lease taken, and passages are looked for beside it. It holds under the conditions of
// quick.go, and when it does not, or anything goes wrong, both are done one after the other.

// early is a turn that was begun when what was said in it was written down.
type early struct {
	// ctx is the turn's, with its span, held by its lease.
	ctx   context.Context //nolint:containedctx // it is handed to the goroutine that takes the turn
	span  *telemetry.Span
	lease *lease

	session Session
	turn    Turn
}

// ask takes what the user said and the wish for an answer to it.
func (e *engine) ask(live *Live, c Ask) {
	if !e.free() || !c.Wish.plain() || !sayable(c.Said.Text) || e.s.spill.isAway() {
		e.hear(live, c.Said)
		e.respond(live, c.Wish)
		return
	}
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	said := Message{Role: roleUser, ItemID: c.Said.ItemID, After: c.Said.After, Text: c.Said.Text}
	if refused := e.name(ctx, &said); refused != nil {
		live.push(Failed{CommandID: c.Said.CommandID, Err: refused})
		e.respond(live, c.Wish)
		return
	}
	start := e.startOf(TurnID(idgen.New(idgen.Turn)), said.Text)
	turnCtx, run, r := e.ready(respond{live: live, command: c.Wish}, start)
	turnCtx, span, l := r.depart(turnCtx)
	var begun bool
	var session Session
	var turn Turn
	err := e.s.attached(ctx, e.id, func(ctx context.Context) (err error) {
		session, turn, begun, err = e.s.quickAsk(ctx, r.start, said)
		return err
	})
	if err != nil || !begun { // its trace is of nothing, and is left
		r.ahead.stop()
		e.s.release(start.turn, l)
		run.cancel(nil)
		if err != nil {
			e.unheard.turn, e.unheard.response = start.turn, r.start.response
		}
		if e.acceptNamed(live, c.Said.CommandID, start.turn, said) {
			e.client.heard()
		}
		e.respond(live, c.Wish)
		return
	}
	e.s.mu.Lock()
	l.begun = true
	e.s.mu.Unlock()
	r.start.early = &early{ctx: turnCtx, span: span, lease: l, session: session, turn: turn}
	e.recall.opened(turn)
	e.recall.began(session, turn)
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

// askOpen stores a new turn with what was said, at the session's next place, and takes the lease for it. The row's lock is
// the statement's own. $1 to $8 are those of newTurnArgs.
const askOpen = `
	WITH place AS (
	    UPDATE sessions AS s
	    SET last_activity_at = $8::timestamptz, turn_count = s.turn_count + 1, running_turn_id = $4::text, running_until = $9, running_response_id = $10
	    WHERE s.tenant_id = $1::text AND s.id = $3::text AND s.status = 'in_progress' AND s.ending_at IS NULL AND s.running_turn_id IS NULL
	      AND (s.spill_until IS NULL OR s.spill_until <= $8::timestamptz)
	    RETURNING s.turn_count - 1 AS index, s.language, s.turn_count, s.summarized_turns, s.input_tokens, s.output_tokens, s.tool_calls,
	        s.assigned_variables, s.item_edits
	), stored AS (
	    INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics, started_at)
	    SELECT $4::text, $1::text, $2::text, $3::text, place.index, $5::text, '', 'in_progress', $6::json, '[]'::jsonb, $7::jsonb, $8::timestamptz
	    FROM place
	    RETURNING index
	)
	SELECT place.index, place.language, place.turn_count, place.summarized_turns, place.input_tokens, place.output_tokens, place.tool_calls,
	    place.assigned_variables, place.item_edits
	FROM place
	JOIN stored ON stored.index = place.index`

// quickAsk is quickAccept and quickBegin; false when it is not for here. The error says why nothing is known.
func (s *Service) quickAsk(ctx context.Context, start turnStart, said Message) (session Session, turn Turn, begun bool, err error) {
	now, known := s.moment(), start.known
	session = known.session
	turn = newTurn(session, start.turn, now)
	turn.Messages = []Message{said}
	turn.UserText = userText(turn.Messages)
	args, err := newTurnArgs(turn)
	if err != nil {
		return Session{}, Turn{}, false, err
	}
	ask := postgres.Step{
		SQL:  askOpen,
		Args: append(args, now.Add(leaseLife), start.response),
		Row: func(scan func(into ...any) error) error {
			begun = true
			return scanBegun(scan, &session, &turn.Index)
		},
	}
	err = s.beginWith(ctx, start, &session, now, &begun, ask)
	return session, turn, begun && err == nil, err
}
