package pgstore

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// acceptTries is how often a message is tried to be accepted: another node may answer the same call
// between the check and the write of the first try.
const acceptTries = 2

// turnsKey is the constraint that an id of a turn violates which is there already.
const turnsKey = "turns_pkey"

// Accept implements turns.Store.
func (s *Store) Accept(ctx context.Context, p turns.AcceptParams) (sessions.Turn, error) {
	for range acceptTries {
		asked, err := s.checkAccept(ctx, p)
		if err != nil {
			return sessions.Turn{}, err
		}
		turn, ok, err := s.tryAccept(ctx, p, asked)
		if postgres.IsUnique(err, turnsKey) { // an earlier try has stored it
			return sessions.FindTurn(ctx, s.db, p.Session, p.New)
		}
		if ok || err != nil {
			return turn, err
		}
		session, err := sessions.Find(ctx, s.db, p.Session.TenantID, p.Session.ID, "")
		if err == nil {
			err = sessions.CheckOpen(session)
		}
		if err != nil {
			return sessions.Turn{}, err
		}
	}
	return sessions.Turn{}, fault.New(fault.Conflict, "The call was answered meanwhile.")
}

// checkAccept finds the turn whose call the message answers; empty when it answers none. Errors:
// Invalid invalid-request (the id of a call), Precondition session-closed, NotFound.
func (s *Store) checkAccept(ctx context.Context, p turns.AcceptParams) (asked sessions.TurnID, err error) {
	if p.Message.Role != sessions.RoleTool && len(p.Message.Calls) == 0 {
		return "", nil
	}
	err = s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		for _, call := range p.Message.Calls {
			if err := checkNewCall(ctx, tx, *row, call.ID); err != nil {
				return err
			}
		}
		if p.Message.Role != sessions.RoleTool {
			return nil
		}
		turn, err := sessions.TurnOfOpenCallTx(ctx, tx, *row, p.Message.CallID)
		asked = turn.ID
		return err
	})
	return asked, err
}

// checkNewCall refuses a call's id that the session knows. The session's row is locked.
func checkNewCall(ctx context.Context, tx bun.Tx, session sessions.Session, callID string) error {
	holding, err := sessions.TurnsWithItem(ctx, tx, session, callID)
	if err != nil {
		return err
	}
	for _, turn := range holding {
		for _, m := range turn.Messages {
			if slices.ContainsFunc(m.Calls, func(c sessions.MessageCall) bool { return c.ID == callID }) {
				return fault.InvalidField("call_id", "taken", "There is a call with the id %q already.", callID)
			}
		}
	}
	return nil
}

// accept appends a message to the unanswered turn, or stores a new turn with it at the session's
// next place. Parameters: $1 tenant, $2 session, $3 now, $4 unanswered turn, $5 message, $6 what
// the user said in it, $7 id of a new turn, $8 workspace, $9 metrics, $10 the call that it answers,
// $11 the calls that it makes.
const accept = `
	WITH counted AS (
	    UPDATE sessions AS s
	    SET last_activity_at = $3::timestamptz,
	        turn_count = s.turn_count + CASE WHEN EXISTS (
	            SELECT FROM turns AS t
	            WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND t.id = $4::text AND t.status = 'in_progress'
	        ) THEN 0 ELSE 1 END
	    WHERE s.tenant_id = $1::text AND s.id = $2::text AND s.status IN ('pending', 'in_progress') AND s.ending_at IS NULL
	      AND ($10::text = '' OR NOT EXISTS (
	          SELECT FROM turns AS t, json_array_elements(t.messages) AS m
	          WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND m->>'role' = 'tool' AND m->>'call_id' = $10::text
	      ))
	      AND (cardinality($11::text[]) = 0 OR NOT EXISTS (
	          SELECT FROM turns AS t, json_array_elements(t.messages) AS m, json_array_elements(m->'calls') AS c
	          WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND c->>'id' = ANY ($11::text[])
	      ))
	    RETURNING s.turn_count
	), appended AS (
	    UPDATE turns AS t
	    SET messages = ` + appendMessage + `,
	        user_text = concat_ws(E'\n', nullif(t.user_text, ''), nullif($6::text, ''))
	    FROM counted
	    WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND t.id = $4::text AND t.status = 'in_progress'
	    RETURNING ` + openTurnColumns + `
	), stored AS (
	    INSERT INTO turns AS t (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations,
	        metrics, started_at)
	    SELECT $7::text, $1::text, $8::text, $2::text, counted.turn_count - 1, $6::text, '', 'in_progress', ('[' || $5::text || ']')::json,
	        '[]'::jsonb, $9::jsonb, $3::timestamptz
	    FROM counted
	    WHERE NOT EXISTS (SELECT FROM appended)
	    RETURNING ` + openTurnColumns + `
	)
	SELECT * FROM appended UNION ALL SELECT * FROM stored`

// appendMessage is t.messages with $5 at the end. A column of json keeps the text that was written,
// whose last character is the bracket.
const appendMessage = `
	    (left(t.messages::text, -1) || CASE WHEN json_array_length(t.messages) = 0 THEN '' ELSE ',' END || $5::text || ']')::json`

// openTurnColumns are those of a turn that is not answered yet.
const openTurnColumns = `t.id, t.index, t.user_text, t.messages, t.started_at, t.losses, t.wanted, t.lost_response_id,
	    t.feedback, t.spilled`

// tryAccept is one pipeline; ok is false when the session does not allow it. asked is the turn
// whose call the message answers.
func (s *Store) tryAccept(ctx context.Context, p turns.AcceptParams, asked sessions.TurnID) (turn sessions.Turn, ok bool, err error) {
	now := s.sessions.Now()
	message, err := jsonText(p.Message)
	if err != nil {
		return turn, false, err
	}
	metrics, err := jsonText(sessions.Metrics{})
	if err != nil {
		return turn, false, err
	}
	answers, calls := "", []string{}
	if p.Message.Role == sessions.RoleTool {
		answers = p.Message.CallID
	}
	for _, call := range p.Message.Calls {
		calls = append(calls, call.ID)
	}
	turn = sessions.NewTurn(p.Session, p.New, now)
	steps := []postgres.Step{lock(p.Session), {
		SQL: accept,
		Args: []any{
			string(p.Session.TenantID), string(p.Session.ID), now, string(p.Open), string(message), sessions.UserText([]sessions.Message{p.Message}),
			string(p.New), string(p.Session.WorkspaceID), metrics, answers, calls,
		},
		Row: func(scan func(into ...any) error) error {
			ok = true
			var messages []byte
			if err := scan(openTurnTargets(&turn, &messages)...); err != nil {
				return err
			}
			turn.StartedAt = turn.StartedAt.UTC()
			return decodeJSON(column{messages, &turn.Messages})
		},
	}}
	if asked != "" {
		steps = append(steps, putBesideStep(p.Session, asked, message, string(p.New), string(p.Open)))
	}
	_, err = s.db.Pipeline(ctx, steps...)
	return turn, ok, err
}

// openTurnTargets are where openTurnColumns are scanned to.
func openTurnTargets(turn *sessions.Turn, messages *[]byte) []any {
	return []any{
		(*string)(&turn.ID), &turn.Index, &turn.UserText, messages, &turn.StartedAt, &turn.Losses, &turn.ToBeResumed, &turn.LostResponseID,
		(*string)(&turn.Feedback), &turn.Journalled,
	}
}
