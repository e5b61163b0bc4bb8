package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// What nearly every turn does goes to Postgres in one round trip each, three in all: what the user said is
// written down, the lease is taken, the end is recorded; two where the first two come together (ask.go). Each is a
// pipeline, one transaction, that changes nothing unless the session is as it mostly is: in progress, not being ended,
// no other turn running. When it is not, or anything goes wrong, the same is done once more step by step (lease.go),
// which knows every case and says what is the matter.
//
// A pipeline locks the session's row first. The statement behind it sees what the holders of the
// lock before have stored.
//
// The lease alone is not waited for until it is on the disk: nobody was promised anything with it. A Postgres
// that crashes may forget it, as long as the node that holds it has not renewed it; the turn and what was
// said in it are there, and of two answers the first that is recorded counts, as with any lease that is lost.

// foreknown is what a runner has of its session when the turn begins.
type Known struct {
	// session is how its node last saw it; what changes in its life is read again.
	Session sessions.Session
	// said is what the user said in the turn; empty when the node does not know all of it.
	Said string
	// sources are for the search ahead; nil: there is none.
	sources SourcesAhead
	// What follows is filled in by quickBegin: what the turn's history is made of, as it stood then.

	there   bool
	summary summary
	// tools and keys are what of the agent's tools and the workspace's model keys was asked along.
	tools tools.Prefetch
	keys  bool
	// page is the first of readPast, which has pageSize turns when there are more behind it.
	page     []pastTurn
	pageSize int
}

// asked is what was asked along with the turn's beginning; nil: nothing was.
func (k *Known) asked() *Known {
	if k == nil || !k.there {
		return nil
	}
	return k
}

// lockSoftly is lockSession in a transaction that is not waited for until it is on the disk.
func (s *Service) lockSoftly(session sessions.Session) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT set_config('synchronous_commit', 'off', true) FROM sessions AS s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE",
		Args: []any{string(session.TenantID), string(session.ID)},
	}
}

// lockSession takes the session's row, as [Service.locked] does.
func (s *Service) lockSession(session sessions.Session) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT FROM sessions AS s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE",
		Args: []any{string(session.TenantID), string(session.ID)},
	}
}

// acceptNew stores a new turn with what was said, at the session's next place. The row's lock is the statement's own.
// Its values are those of newTurnArgs.
const acceptNew = `
	WITH place AS (
	    UPDATE sessions AS s
	    SET last_activity_at = $8::timestamptz, turn_count = s.turn_count + 1
	    WHERE s.tenant_id = $1::text AND s.id = $3::text AND s.status = 'in_progress' AND s.ending_at IS NULL
	    RETURNING s.turn_count - 1 AS index
	)
	INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics, started_at)
	SELECT $4::text, $1::text, $2::text, $3::text, place.index, $5::text, '', 'in_progress', $6::json, '[]'::jsonb, $7::jsonb, $8::timestamptz
	FROM place
	RETURNING index`

// quickAccept is accept for something that the user said first; false when it is not for here.
func (s *Service) quickAccept(ctx context.Context, session sessions.Session, id sessions.TurnID, said sessions.Message, now time.Time) (sessions.Turn, bool) {
	if said.Role == sessions.RoleTool || len(said.Calls) > 0 {
		return sessions.Turn{}, false
	}
	turn := sessions.NewTurn(session, id, now)
	turn.Messages = []sessions.Message{said}
	turn.UserText = userText(turn.Messages)
	args, err := newTurnArgs(turn)
	if err != nil {
		return sessions.Turn{}, false
	}
	stored := false
	_, err = s.db.Ask(ctx, postgres.Step{
		SQL:  acceptNew,
		Args: args,
		Row:  func(scan func(into ...any) error) error { stored = true; return scan(&turn.Index) },
	})
	return turn, err == nil && stored
}

// newTurnArgs are $1 to $8 of acceptNew and of askOpen, for a turn that was just made.
func newTurnArgs(turn sessions.Turn) ([]any, error) {
	messages, err := jsonText(turn.Messages)
	if err != nil {
		return nil, err
	}
	metrics, err := jsonText(turn.Metrics)
	if err != nil {
		return nil, err
	}
	return []any{
		string(turn.TenantID), string(turn.WorkspaceID), string(turn.SessionID), string(turn.ID), turn.UserText, messages, metrics, turn.StartedAt,
	}, nil
}

// errZero is of a text with a zero in it, which Postgres does not take: the way step by step writes it otherwise.
var errZero = errors.New("a text has a zero in it")

// jsonText is a value for a column of JSON.
func jsonText(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing a column of JSON: %w", err)
	}
	if bytes.Contains(text, []byte(`\u0000`)) {
		return nil, errZero
	}
	return text, nil
}

// beginOpen takes the lease for a turn that a socket began, when no turn runs.
const beginOpen = `
	UPDATE sessions AS s
	SET running_turn_id = t.id, running_until = $4, running_response_id = $5, last_activity_at = $6
	FROM turns AS t
	WHERE s.tenant_id = $1 AND s.id = $2 AND s.status = 'in_progress' AND s.ending_at IS NULL AND s.running_turn_id IS NULL
	  AND (s.spill_until IS NULL OR s.spill_until <= $6)
	  AND t.tenant_id = $1 AND t.session_id = $2 AND t.id = $3 AND t.status = 'in_progress' AND NOT t.wanted AND t.losses = 0
	RETURNING t.index, s.language, s.turn_count, s.summarized_turns, s.input_tokens, s.output_tokens, s.tool_calls, s.assigned_variables, s.item_edits,
	    t.user_text, t.messages, t.started_at`

// quickBegin is tryBegin for the turn of a socket; false when it is not for here, or cannot be.
func (s *Service) quickBegin(ctx context.Context, start Start) (session sessions.Session, turn sessions.Turn, begun bool) {
	known := start.Known
	if known == nil || !start.Open {
		return sessions.Session{}, sessions.Turn{}, false
	}
	now := s.sessions.Now()
	session = known.Session
	turn = sessions.NewTurn(session, start.Turn, now)
	begin := postgres.Step{
		SQL:  beginOpen,
		Args: []any{string(start.Tenant), string(start.Session), string(start.Turn), now.Add(sessions.LeaseLife), start.Response, now},
		Row: func(scan func(into ...any) error) error {
			begun = true
			var messages []byte
			if err := scanBegun(scan, &session, &turn.Index, &turn.UserText, &messages, &turn.StartedAt); err != nil {
				return err
			}
			turn.StartedAt = turn.StartedAt.UTC()
			return readJSON(column{messages, &turn.Messages})
		},
	}
	if s.beginWith(ctx, start, &session, now, &begun, s.lockSoftly(session), begin) != nil || !begun {
		return sessions.Session{}, sessions.Turn{}, false
	}
	return session, turn, true
}

// scanBegun reads the row of a turn that begins: its place, what of the session changes in its life, and more.
func scanBegun(scan func(into ...any) error, session *sessions.Session, index *int, more ...any) error {
	var assigned, edits []byte
	err := scan(append([]any{
		index, &session.Language, &session.TurnCount, &session.SummarizedTurns, &session.InputTokens, &session.OutputTokens, &session.ToolCalls, &assigned, &edits,
	}, more...)...)
	if err != nil {
		return err
	}
	session.AssignedVariables, session.ItemEdits = nil, nil
	return readJSON(column{assigned, &session.AssignedVariables}, column{edits, &session.ItemEdits})
}

// beginWith takes the steps that begin a turn, and asks along what its history is made of.
func (s *Service) beginWith(ctx context.Context, start Start, session *sessions.Session, now time.Time, begun *bool, steps ...postgres.Step) error {
	known := start.Known
	known.page, known.summary = nil, summary{}
	steps = append(steps, s.pastStep(*session, known, start.Recall.earlier()), s.summaryStep(*session, known))
	if known.sources != nil {
		steps = append(steps, known.sources.Step())
	}
	if s.tools != nil {
		steps = append(steps, known.tools.Steps(s.tools, session.Ref(), session.AgentID)...)
	}
	if s.hasKeys != nil {
		steps = append(steps, s.hasKeys(session.Ref(), &known.keys))
	}
	_, err := s.db.Ask(ctx, steps...)
	if err != nil || !*begun {
		known.Said = "" // what is found meanwhile is too old when it begins
		return err
	}
	known.there = true
	session.Status, session.RunningTurnID, session.RunningUntil, session.LastActivityAt = sessions.InProgress, start.Turn, now.Add(sessions.LeaseLife), now
	session.RunningResponseID = start.Response
	return nil
}

// summaryStep is selectSummary.
func (s *Service) summaryStep(session sessions.Session, known *Known) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT m.text, m.turns FROM session_summaries AS m WHERE m.tenant_id = $1 AND m.session_id = $2",
		Args: []any{string(session.TenantID), string(session.ID)},
		Row:  func(scan func(into ...any) error) error { return scan(&known.summary.Text, &known.summary.Turns) },
	}
}

// provider is what answers for the agent.
func (r *Runner) provider(ctx context.Context) (model.Provider, error) {
	choose := r.S.models
	if known := r.Start.Known.asked(); known != nil && r.S.installed != nil && !known.keys {
		choose = r.S.installed
	}
	return choose(ctx, r.Session.Ref(), r.Session.Config.Model)
}

// finishOpen records the end of a turn, the columns of finishedColumns, and what it was to its session.
const finishOpen = `
	WITH done AS (
	    UPDATE turns AS t
	    SET agent_text = $5, status = $6, messages = $7, citations = $8, retrieval = $9, model = $10, input_tokens = $11, output_tokens = $12,
	        metrics = $13, error_code = $14, error_message = $15, ended_at = $16, receipt = $17, receipt_hash = $18
	    WHERE t.tenant_id = $1 AND t.id = $3 AND t.status = 'in_progress' AND t.losses = $4
	      AND EXISTS (
	          SELECT FROM sessions AS o
	          WHERE o.tenant_id = $1 AND o.id = $2 AND o.status = 'in_progress' AND o.ending_at IS NULL AND o.running_turn_id = $3
	      )
	    RETURNING t.xmin AS row
	)
	UPDATE sessions AS s
	SET input_tokens = s.input_tokens + $11, output_tokens = s.output_tokens + $12, tool_calls = s.tool_calls + $19, last_activity_at = $20,
	    language = CASE WHEN $21 = '' THEN s.language ELSE $21 END, running_turn_id = NULL, running_until = NULL
	FROM done
	WHERE s.tenant_id = $1 AND s.id = $2
	RETURNING done.row, s.language, s.summarized_turns, s.input_tokens, s.output_tokens, s.tool_calls`

// quickFinish is finish for a turn that ends nothing but itself; false when it is not for here, or could not be.
func (s *Service) quickFinish(ctx context.Context, session sessions.Session, turn *sessions.Turn, with finishing) (after sessions.Session, recorded bool) {
	if with.endCall || len(with.assigned) > 0 || turn.Status == sessions.TurnFailed || len(sessions.OpenCalls([]sessions.Turn{*turn})) > 0 {
		return sessions.Session{}, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now()
	args, err := finishArgs(*turn)
	if err != nil {
		return sessions.Session{}, false
	}
	after = session
	_, err = s.db.Ask(ctx, s.lockSession(session), postgres.Step{
		SQL:  finishOpen,
		Args: append(args, len(turn.ToolCalls()), now, with.language),
		Row: func(scan func(into ...any) error) error {
			recorded = true
			return scan(&turn.Row, &after.Language, &after.SummarizedTurns, &after.InputTokens, &after.OutputTokens, &after.ToolCalls)
		},
	})
	if err != nil || !recorded {
		return sessions.Session{}, false
	}
	after.RunningTurnID, after.RunningUntil, after.LastActivityAt = "", time.Time{}, now
	return after, true
}

// finishArgs are $1 to $18 of finishOpen.
func finishArgs(turn sessions.Turn) ([]any, error) {
	args := []any{
		string(turn.TenantID), string(turn.SessionID), string(turn.ID), turn.Losses, turn.AgentText, string(turn.Status),
		turn.Messages, turn.Citations, nil, turn.Model, turn.InputTokens, turn.OutputTokens,
		turn.Metrics, turn.ErrorCode, turn.ErrorMessage, turn.EndedAt, []byte(turn.Receipt), turn.ReceiptHash,
	}
	if turn.Retrieval != nil {
		args[8] = turn.Retrieval
	}
	for _, at := range []int{6, 7, 8, 12} {
		if args[at] == nil {
			continue
		}
		var err error
		if args[at], err = jsonText(args[at]); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// column is JSON that a statement found, and where it belongs.
type column struct {
	found []byte
	into  any
}

func readJSON(columns ...column) error {
	for _, c := range columns {
		if len(c.found) == 0 {
			continue
		}
		if err := json.Unmarshal(c.found, c.into); err != nil {
			return fmt.Errorf("reading a column of JSON: %w", err)
		}
	}
	return nil
}
