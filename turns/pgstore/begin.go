package pgstore

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// beginTries is how often a turn is tried to begin at once: a diagnosis removes what was in the way
// of the last try.
const beginTries = 3

// beginning is a turn on its way to its lease.
type beginning struct {
	turns.BeginParams

	// holder is what the session's running_response_id says when this very turn has the lease
	// already; empty: it has not.
	holder string
	// outputs are the results of New.Outputs with what their calls say, and where they belong.
	outputs []output
}

// Begin implements turns.Store.
func (s *Store) Begin(ctx context.Context, p turns.BeginParams) (turns.Begun, error) {
	b := beginning{BeginParams: p, holder: p.Response}
	if p.Resume {
		b.holder = idgen.New(idgen.Response)
	}
	for range beginTries {
		begun, ok, err := s.tryBegin(ctx, &b)
		if postgres.IsUnique(err, turnsKey) {
			if b.Response == "" {
				return begun, turns.ErrExists
			}
			b.New = nil // an earlier try has stored the turn
			continue
		}
		if ok || err != nil {
			return begun, err
		}
		if begun.Session, err = s.clearTheWay(ctx, b); err != nil {
			return begun, err
		}
	}
	return turns.Begun{Session: p.Session}, turns.ErrBusy
}

// takeLease gives a session's lease to a turn. Parameters: $1 tenant, $2 session, $3 turn, $4
// until, $5 response, $6 now, $7 1 for a new turn and 0 for an open one, $8 holder, $9 the calls
// that a new turn brings results of, $10 whether it is taken only while a person has the session.
const takeLease = `
	UPDATE sessions AS s
	SET running_turn_id = $3::text, running_until = $4, running_response_id = $5, last_activity_at = $6::timestamptz,
	    turn_count = s.turn_count + $7::int4
	WHERE s.tenant_id = $1::text AND s.id = $2::text AND s.status = 'in_progress' AND s.ending_at IS NULL
	  AND (s.spill_until IS NULL OR s.spill_until <= $6::timestamptz)
	  AND (s.running_turn_id IS NULL AND (NOT $10::boolean OR s.handover_status = 'operator')
	      OR s.running_turn_id = $3::text AND s.running_response_id = $8::text AND $8::text <> '')
	  AND CASE WHEN $7::int4 = 0
	      THEN EXISTS (
	          SELECT FROM turns AS t
	          WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND t.id = $3::text AND t.status = 'in_progress'
	      )
	      ELSE cardinality($9::text[]) = 0 OR NOT EXISTS (
	          SELECT FROM turns AS t, json_array_elements(t.messages) AS m
	          WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND m->>'role' = 'tool' AND m->>'call_id' = ANY ($9::text[])
	      )
	      END
	RETURNING ` + leaseColumns

// leaseColumns are what of a session changes in its life and a turn reads.
const leaseColumns = `s.turn_count, s.language, s.summarized_turns, s.input_tokens, s.output_tokens, s.tool_calls, s.assigned_variables,
	    s.item_edits, s.started_at, s.handover_status, s.handover_operator, s.handover_requested_at, s.handover_taken_at`

// takenColumns are leaseColumns of takeLease within another statement.
const takenColumns = `taken.turn_count, taken.language, taken.summarized_turns, taken.input_tokens, taken.output_tokens, taken.tool_calls,
	    taken.assigned_variables, taken.item_edits, taken.started_at, taken.handover_status, taken.handover_operator,
	    taken.handover_requested_at, taken.handover_taken_at`

// beginOpen takes the lease for a turn that was accepted before.
const beginOpen = `
	WITH taken AS (` + takeLease + `)
	SELECT ` + takenColumns + `, ` + openTurnColumns + `
	FROM taken
	JOIN turns AS t ON t.tenant_id = $1::text AND t.session_id = $2::text AND t.id = $3::text`

// beginNew takes the lease for a new turn and stores it at the session's next place. Further
// parameters: $11 workspace, $12 user text, $13 messages, $14 metrics, $15 the caller's own tools.
const beginNew = `
	WITH taken AS (` + takeLease + `), stored AS (
	    INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics,
	        started_at, client_tools)
	    SELECT $3::text, $1::text, $11::text, $2::text, taken.turn_count - 1, $12::text, '', 'in_progress', $13::json, '[]'::jsonb, $14::jsonb,
	        $6::timestamptz, $15::json
	    FROM taken
	    RETURNING index
	)
	SELECT ` + takenColumns + `, stored.index
	FROM taken, stored`

// tryBegin is one pipeline; ok is false when the session does not allow it.
func (s *Store) tryBegin(ctx context.Context, b *beginning) (begun turns.Begun, ok bool, err error) {
	now := s.sessions.Now()
	begun = turns.Begun{Session: b.Session, OwnKeys: s.hasKeys == nil}
	steps, err := s.takeSteps(ctx, b, now, &begun, &ok)
	if err != nil {
		return begun, false, err
	}
	steps = append(steps, historyStep(b.Session, &begun.History), summaryStep(b.Session, &begun.Summary))
	if s.tools != nil {
		begun.Tools = &tools.Prefetch{}
		steps = append(steps, begun.Tools.Steps(s.tools, b.Session.Ref(), b.Session.AgentID)...)
	}
	if s.retriever != nil {
		begun.Search = s.retriever.Search(b.Session.Ref(), b.Session.AgentID, b.Session.Config.Retrieval.Filters())
		steps = append(steps, begun.Search.Steps()...)
	}
	if s.hasKeys != nil {
		steps = append(steps, s.hasKeys(b.Session.Ref(), &begun.OwnKeys))
	}
	if _, err := s.db.Pipeline(ctx, steps...); err != nil {
		return turns.Begun{Session: b.Session}, false, err
	}
	session := &begun.Session
	session.Status, session.RunningTurnID, session.RunningUntil = sessions.InProgress, b.Turn, now.Add(sessions.LeaseLife)
	session.RunningResponseID, session.LastActivityAt = b.Response, now
	return begun, ok, nil
}

// takeSteps are those that take the lease and bring the turn.
func (s *Store) takeSteps(ctx context.Context, b *beginning, now time.Time, begun *turns.Begun, ok *bool) ([]postgres.Step, error) {
	if take := leaseArgs(*b, now); b.New == nil {
		turn := sessions.NewTurn(b.Session, b.Turn, now)
		return []postgres.Step{lockWithoutFlush(b.Session), {SQL: beginOpen, Args: take, Row: func(scan func(into ...any) error) error {
			*ok = true
			var messages []byte
			err := scanLease(scan, &begun.Session, openTurnTargets(&turn, &messages)...)
			turn.StartedAt = turn.StartedAt.UTC()
			begun.Turn = turn
			if err != nil {
				return err
			}
			return decodeJSON(column{messages, &begun.Turn.Messages})
		}}}, nil
	}
	if err := s.findCalls(ctx, b, now); err != nil {
		return nil, err
	}
	turn := newTurn(*b, now)
	args, err := newTurnArgs(turn)
	if err != nil {
		return nil, err
	}
	var offered any // nil is NULL
	if b.New.ClientTools != nil {
		offered = []byte(b.New.ClientTools)
	}
	for _, one := range b.outputs {
		begun.Answered = append(begun.Answered, one.traced)
	}
	steps := []postgres.Step{lock(b.Session), {
		SQL:  beginNew,
		Args: append(append(leaseArgs(*b, now), args...), offered),
		Row: func(scan func(into ...any) error) error {
			*ok = true
			err := scanLease(scan, &begun.Session, &turn.Index)
			begun.Turn = turn
			return err
		},
	}}
	return appendOutputSteps(steps, *b)
}

// leaseArgs are the parameters of takeLease.
func leaseArgs(b beginning, now time.Time) []any {
	added, calls := 0, []string{}
	if b.New != nil {
		added = 1
		for _, one := range b.New.Outputs {
			calls = append(calls, one.CallID)
		}
	}
	return []any{
		string(b.Session.TenantID), string(b.Session.ID), string(b.Turn), now.Add(sessions.LeaseLife), b.Response, now, added, b.holder, calls,
		b.Stores,
	}
}

// newTurn is the turn as it is stored, but for its place.
func newTurn(b beginning, now time.Time) sessions.Turn {
	turn := sessions.NewTurn(b.Session, b.Turn, now)
	for _, one := range b.outputs {
		turn.Messages = append(turn.Messages, one.message)
	}
	turn.Messages = append(turn.Messages, b.New.Said...)
	turn.UserText, turn.ClientTools = sessions.UserText(turn.Messages), b.New.ClientTools
	return turn
}

// newTurnArgs are $11 to $14 of beginNew.
func newTurnArgs(turn sessions.Turn) ([]any, error) {
	messages, err := jsonText(turn.Messages)
	if err != nil {
		return nil, err
	}
	metrics, err := jsonText(turn.Metrics)
	if err != nil {
		return nil, err
	}
	return []any{string(turn.WorkspaceID), turn.UserText, messages, metrics}, nil
}

// scanLease reads leaseColumns and more.
func scanLease(scan func(into ...any) error, session *sessions.Session, more ...any) error {
	var assigned, edits []byte
	var started, requested, taken *time.Time
	handover := &session.Handover
	err := scan(append([]any{
		&session.TurnCount, &session.Language, &session.SummarizedTurns, &session.InputTokens, &session.OutputTokens, &session.ToolCalls,
		&assigned, &edits, &started, (*string)(&handover.Status), &handover.Operator, &requested, &taken,
	}, more...)...)
	if err != nil {
		return err
	}
	if started != nil {
		session.StartedAt = started.UTC()
	}
	handover.RequestedAt, handover.TakenAt = timeOf(requested), timeOf(taken)
	session.AssignedVariables, session.ItemEdits = nil, nil
	return decodeJSON(column{assigned, &session.AssignedVariables}, column{edits, &session.ItemEdits})
}

// timeOf is a time that may be NULL.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
