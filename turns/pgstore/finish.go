package pgstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/usage"
)

// finishTurn writes a turn's end, counts it in its session, gives the lease back, and writes down
// the end of the session that end_call asks for unless one is written down. Whether the turn was
// journalled is written as the receipt has it. Parameters: those of finishArgs.
var finishTurn = `
	WITH done AS (
	    UPDATE turns AS t
	    SET agent_text = $5, status = $6, messages = $7, citations = $8, retrieval = $9, model = $10, input_tokens = $11, output_tokens = $12,
	        metrics = $13, error_code = $14, error_message = $15, ended_at = $16, receipt = $17, receipt_hash = $18,
	        spilled = $25
	    WHERE t.tenant_id = $1 AND t.session_id = $2 AND t.id = $3 AND t.status = 'in_progress' AND t.losses = $4
	    RETURNING t.id
	), metered AS (` + usage.InsertFrom("done", "$1", "$26", "$27", "$16::timestamptz", "$28::json") + `
	), assigned AS (
	    SELECT o.variables || coalesce(
	        (
	            SELECT jsonb_object_agg(v.key, v.value)
	            FROM (
	                SELECT a.key, a.value, jsonb_exists(o.variables, a.key) AS known,
	                    count(*) FILTER (WHERE NOT jsonb_exists(o.variables, a.key)) OVER (ORDER BY a.key COLLATE "C") AS added
	                FROM jsonb_each($22::jsonb) AS a
	            ) AS v
	            WHERE v.known OR v.added + (SELECT count(*) FROM jsonb_object_keys(o.variables)) <= $23
	        ),
	        '{}'::jsonb
	    ) AS variables
	    FROM (
	        SELECT CASE WHEN jsonb_typeof(i.assigned_variables) = 'object' THEN i.assigned_variables ELSE '{}'::jsonb END AS variables
	        FROM sessions AS i
	        WHERE i.tenant_id = $1 AND i.id = $2
	    ) AS o
	)
	UPDATE sessions AS s
	SET input_tokens = s.input_tokens + $11, output_tokens = s.output_tokens + $12, tool_calls = s.tool_calls + $19,
	    cost = coalesce(s.cost, 0) + (SELECT coalesce(sum(m.cost), 0) FROM json_to_recordset($28::json) AS m (cost numeric)),
	    last_activity_at = greatest(s.last_activity_at, $20::timestamptz),
	    language = CASE WHEN $21 = '' THEN s.language ELSE $21 END,
	    assigned_variables = assigned.variables,
	    running_turn_id = CASE WHEN s.running_turn_id = $3 THEN NULL ELSE s.running_turn_id END,
	    running_until = CASE WHEN s.running_turn_id = $3 THEN NULL ELSE s.running_until END,
	    ending_at = CASE WHEN s.ending_at IS NULL AND $24 AND s.status = 'in_progress' THEN $20::timestamptz ELSE s.ending_at END,
	    ending_status = CASE WHEN s.ending_at IS NULL AND $24 AND s.status = 'in_progress' THEN 'completed' ELSE s.ending_status END,
	    ending_reason = CASE WHEN s.ending_at IS NULL AND $24 AND s.status = 'in_progress' THEN $29 ELSE s.ending_reason END
	FROM done, assigned
	WHERE s.tenant_id = $1 AND s.id = $2
	RETURNING ` + leaseColumns + `, s.status, s.ending_at IS NOT NULL`

// Finish implements turns.Store.
func (s *Store) Finish(ctx context.Context, p turns.FinishParams) (turns.Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	if p.Escalation != nil {
		if err := s.escalate(ctx, p); err != nil {
			return turns.Finished{Session: p.Session, Turn: p.Turn}, err
		}
		p.Handover = nil // it was asked for
	}
	if err := s.cutItems(ctx, p); err != nil {
		return turns.Finished{Session: p.Session, Turn: p.Turn}, err
	}
	after, ending, recorded, err := s.tryFinish(ctx, p)
	if err == nil && !recorded {
		after, ending, recorded, err = s.finishAfterAll(ctx, p)
	}
	if err != nil || !recorded {
		return turns.Finished{Session: after, Turn: p.Turn}, err
	}
	failed := p.Turn.Status == sessions.TurnFailed && !p.MoreToCome
	open := len(sessions.OpenCalls([]sessions.Turn{p.Turn})) > 0
	if !open && !failed && (!ending || p.MoreToCome) {
		return turns.Finished{Session: after, Turn: p.Turn, Recorded: true}, nil
	}
	after, err = s.followUp(ctx, p)
	return turns.Finished{Session: after, Turn: p.Turn, Recorded: true}, err
}

// escalate announces an escalation before the turn's end is written, so that no end is without it,
// and asks for a person if the turn does. Its id is made from the turn's: a second one changes
// nothing.
func (s *Store) escalate(ctx context.Context, p turns.FinishParams) error {
	seed := idgen.Seed{At: p.Turn.StartedAt, Secret: []byte(p.Turn.ID + " escalated")}
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := events.Append(ctx, tx, events.Event{
			ID:       idgen.In(idgen.WithSeed(ctx, seed), idgen.Event),
			TenantID: string(p.Session.TenantID), WorkspaceID: string(p.Session.WorkspaceID),
			Type: events.EscalationTriggered, Subject: string(p.Turn.ID), CreatedAt: p.At,
			Payload: &events.EscalationTriggeredData{
				SessionId: string(p.Session.ID), AgentId: string(p.Session.AgentID), UserId: p.Session.UserID, TurnId: string(p.Turn.ID),
				Guard: p.Escalation.Guard, Side: p.Escalation.Side, MatchedBy: p.Escalation.MatchedBy, TriggeredAt: timestamppb.New(p.At),
			},
		})
		if err != nil || p.Handover == nil {
			return err
		}
		if _, err := sessions.Find(ctx, tx, p.Session.TenantID, p.Session.ID, "UPDATE"); err != nil {
			return err
		}
		query, err := askPerson(ctx, tx, p, false)
		if err != nil {
			return err
		}
		_, err = tx.NewRaw("?", query).Exec(ctx)
		return err
	})
}

// askPerson is the statement that asks for a person. recorded has it do so only behind the end of
// the turn, in the same transaction.
func askPerson(ctx context.Context, db bun.IDB, p turns.FinishParams, recorded bool) (bun.Query, error) {
	asking := handover.Asking{Request: *p.Handover, Session: p.Session, Turn: p.Turn, Recorded: recorded, At: p.At}
	return asking.Query(ctx, db)
}

// tryFinish is the pipeline. Recorded is false when the turn is not in progress here any more.
func (s *Store) tryFinish(ctx context.Context, p turns.FinishParams) (after sessions.Session, ending, recorded bool, err error) {
	args, err := s.finishArgs(p)
	if err != nil {
		return p.Session, false, false, err
	}
	after = p.Session
	steps := []postgres.Step{lock(p.Session), {SQL: finishTurn, Args: args, Row: func(scan func(into ...any) error) error {
		recorded = true
		return scanLease(scan, &after, (*string)(&after.Status), &ending)
	}}}
	if p.Handover != nil {
		query, err := askPerson(ctx, s.db, p, true)
		if err != nil {
			return p.Session, false, false, err
		}
		steps = append(steps, postgres.Step{Statement: query})
	}
	_, err = s.db.Pipeline(ctx, steps...)
	after.RunningTurnID, after.RunningUntil, after.LastActivityAt = "", time.Time{}, p.At
	return after, ending, recorded && err == nil, err
}

// finishAfterAll says why a turn's end was not written: an earlier try has done it; or the turn was
// taken for lost, and nobody has taken it up, so it is reclaimed and finished; or somebody else has
// finished it.
func (s *Store) finishAfterAll(ctx context.Context, p turns.FinishParams) (after sessions.Session, ending, recorded bool, err error) {
	reclaimed := false
	err = s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		turn, err := sessions.FindTurn(ctx, tx, *row, p.Turn.ID)
		if err == nil {
			recorded = turn.Status != sessions.TurnInProgress && turn.EndedAt.Equal(p.Turn.EndedAt)
			reclaimed, err = sessions.ReclaimTurnTx(ctx, tx, row, p.Turn.ID, "", p.Turn.Losses, p.At)
		}
		after, ending = *row, !row.EndingAt.IsZero()
		return err
	})
	if err == nil && reclaimed {
		return s.tryFinish(ctx, p)
	}
	return after, ending, recorded, err
}

// followUp does what follows from few turns' ends; it may be repeated.
func (s *Store) followUp(ctx context.Context, p turns.FinishParams) (after sessions.Session, err error) {
	err = s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		err := adoptResults(ctx, tx, *row, p.Turn.ID)
		switch {
		case err != nil || p.MoreToCome || row.Closed():
		case !row.EndingAt.IsZero():
			err = s.sessions.CloseTx(ctx, tx, row, row.EndingStatus, row.EndingReason, p.At)
		case row.RunningTurnID == "":
			err = s.sessions.FailAfterFailuresTx(ctx, tx, row, p.Turn, p.At)
		}
		after = *row
		return err
	})
	return after, err
}

// cutItems notes what was heard of the turn's items. It does so before the turn's end is written:
// the session may end with it.
func (s *Store) cutItems(ctx context.Context, p turns.FinishParams) error {
	if len(p.Cuts) == 0 {
		return nil
	}
	return s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		edits := maps.Clone(row.ItemEdits)
		if edits == nil {
			edits = sessions.ItemEdits{}
		}
		for id, cut := range p.Cuts {
			edit := edits[id]
			edit.Cut = &cut
			edits[id] = edit
		}
		row.ItemEdits = edits
		return sessions.Update(ctx, tx, *row, "item_edits")
	})
}

// adoptResults puts a client's results that came in before a turn was recorded beside their calls.
func adoptResults(ctx context.Context, tx bun.Tx, session sessions.Session, id sessions.TurnID) error {
	all, err := sessions.AllTurns(ctx, tx, session)
	if err != nil {
		return err
	}
	for _, turn := range all {
		if turn.ID != id {
			continue
		}
		before := len(turn.Messages)
		for _, call := range sessions.OpenCalls([]sessions.Turn{turn}) {
			turn.Messages = append(turn.Messages, resultsOf(all, call.ID)...)
		}
		if len(turn.Messages) > before {
			return sessions.RewriteMessages(ctx, tx, turn)
		}
	}
	return nil
}

func resultsOf(all []sessions.Turn, callID string) (found []sessions.Message) {
	for _, turn := range all {
		for _, m := range turn.Messages {
			if m.Role == sessions.RoleTool && m.CallID == callID {
				found = append(found, m)
			}
		}
	}
	return found
}

// finishArgs are the parameters of finishTurn.
func (s *Store) finishArgs(p turns.FinishParams) ([]any, error) {
	records, err := sessions.UsageOfTurn(p.Turn, s.prices)
	if err != nil {
		return nil, err
	}
	used, err := usage.Encode(records)
	if err != nil {
		return nil, err
	}
	turn, assigned := p.Turn, p.Assigned
	if assigned == nil {
		assigned = map[string]string{}
	}
	var encoding error
	encode := func(value any) []byte {
		text, err := jsonText(value)
		encoding = errors.Join(encoding, err)
		return text
	}
	var receipt, retrieval any // nil is NULL
	if turn.Receipt != nil {
		receipt = []byte(turn.Receipt)
	}
	if turn.Retrieval != nil {
		retrieval = encode(turn.Retrieval)
	}
	return []any{
		string(turn.TenantID), string(turn.SessionID), string(turn.ID), turn.Losses, turn.AgentText, string(turn.Status),
		encode(turn.Messages), encode(turn.Citations), retrieval, turn.Model, turn.InputTokens, turn.OutputTokens,
		encode(turn.Metrics), turn.ErrorCode, turn.ErrorMessage, turn.EndedAt, receipt, turn.ReceiptHash,
		len(turn.ToolCalls()), p.At, p.Language, encode(assigned), sessions.MaxVariables, p.EndCall, turn.Journalled,
		string(p.Session.WorkspaceID), string(p.Session.AgentID), string(used),
		cmp.Or(p.EndReason, sessions.ReasonEndCall),
	}, encoding
}
