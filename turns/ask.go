package turns

import (
	"context"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// What a user says is mostly followed by the wish for an answer at once. Then both are one round trip: the turn
// is stored with its lease taken, and passages are looked for beside it. It holds under the conditions of
// quick.go, and when it does not, or anything goes wrong, both are done one after the other.

// early is a turn that was begun when what was said in it was written down.
type BegunEarly struct {
	// ctx is the turn's, with its span, held by its lease.
	Ctx   context.Context //nolint:containedctx // it is handed to the goroutine that takes the turn
	Span  *telemetry.Span
	Lease *Lease

	Session sessions.Session
	Turn    sessions.Turn
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
func (s *Service) QuickAsk(ctx context.Context, start Start, said sessions.Message) (session sessions.Session, turn sessions.Turn, begun bool, err error) {
	now, known := s.sessions.Now(), start.Known
	session = known.Session
	turn = sessions.NewTurn(session, start.Turn, now)
	turn.Messages = []sessions.Message{said}
	turn.UserText = userText(turn.Messages)
	args, err := newTurnArgs(turn)
	if err != nil {
		return sessions.Session{}, sessions.Turn{}, false, err
	}
	ask := postgres.Step{
		SQL:  askOpen,
		Args: append(args, now.Add(sessions.LeaseLife), start.Response),
		Row: func(scan func(into ...any) error) error {
			begun = true
			return scanBegun(scan, &session, &turn.Index)
		},
	}
	err = s.beginWith(ctx, start, &session, now, &begun, ask)
	return session, turn, begun && err == nil, err
}
