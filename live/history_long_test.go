package live_test

import (
	"context"
	"fmt"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// TestLongHistory takes turns in a session of a thousand turns that no summary covers. A turn reads
// the newest ones only, over HTTP and on a socket, and so does a socket that joins. The model gets
// no more than the budget. Summaries catch up with the rest, also with a call whose result is
// empty.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	const long, budget = 1000, 500
	f := newFixture(t)
	author := &summarizer{}
	f.model = author
	f.agent = f.newAgent(t, f.ref, agents.Config{Model: agents.Model{HistoryTokens: budget}})
	made := f.create(t)
	id := made.Session.ID
	first := f.turn(t, id, "The first question.")
	// The turns before the newest hundred cannot be decoded: a socket that reads one cannot join,
	// and a turn fails.
	_, err := f.db.ExecContext(t.Context(), `
		INSERT INTO turns (
		    id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics,
		    started_at, ended_at
		)
		SELECT 'turn_' || lpad(n::text, 26, '0'), t.tenant_id, t.workspace_id, t.session_id, n, 'Question', 'Answer', 'completed',
		    CASE WHEN n <= ? THEN '"not messages"'::json ELSE json_build_array(
		        json_build_object('role', 'user', 'text', 'Question ' || n),
		        json_build_object('role', 'assistant', 'text', 'Answer ' || n)
		    ) END,
		    '[]', '{}', t.started_at, t.started_at
		FROM turns AS t, generate_series(1, ?) AS n
		WHERE t.tenant_id = ? AND t.session_id = ? AND t.index = 0`, long-100, long, f.ref.TenantID, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.ExecContext(t.Context(), "UPDATE sessions SET turn_count = ? WHERE tenant_id = ? AND id = ?",
		long+1, f.ref.TenantID, id); err != nil {
		t.Fatal(err)
	}
	check := func(turn sessions.Turn, summarised bool) (covered int) {
		t.Helper()
		receipt, _, err := f.Receipt(t.Context(), f.principal, id, turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		history := receipt.History
		if turn.Status != sessions.TurnCompleted || history == nil || history.Turns == 0 || history.Tokens > budget ||
			(history.SummarizedTurns > 0) != summarised {
			t.Fatalf("turn %d is %s (%s) with the history %+v", turn.Index, turn.Status, turn.ErrorMessage, history)
		}
		return history.SummarizedTurns + history.Turns
	}
	node := f.node(t) // its summaries fail, and it waits a minute before the next
	s := f.join(t, node, made)
	if history := s.History(); len(history) != 100 || history[0].Text != "Question 951" || history[99].Text != "Answer 1000" {
		t.Errorf("the socket got %d items, from %+v", len(history), history[0])
	}
	s.do(live.Retrieve{ItemID: first.Messages[0].ItemID})
	if found, _ := until[live.ItemRetrieved](s); found.Item.Text != first.UserText || found.Item.TurnID != first.ID {
		t.Errorf("retrieved %+v", found)
	}
	answered, err := node.Turn(t.Context(), f.principal, id, "Over HTTP?", nil)
	if err != nil {
		t.Fatal(err)
	}
	check(answered, false)
	done, _ := talk(s, "On a socket?")
	spoken, err := f.GetTurn(t.Context(), f.principal, id, done.TurnID)
	if err != nil {
		t.Fatal(err)
	}
	check(spoken, false)
	closing, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := node.Close(closing); err != nil { // waits for summaries in progress
		t.Fatal(err)
	}
	// From here on the old turns can be decoded.
	_, err = f.db.ExecContext(t.Context(), `
		UPDATE turns
		SET messages = json_build_array(
		    json_build_object('role', 'user', 'text', 'Question ' || index),
		    json_build_object('role', 'assistant', 'text', 'Answer ' || index, 'calls', json_build_array(
		        json_build_object('id', 'call_' || index, 'name', 'look', 'arguments', json_build_object(), 'client', true)
		    )),
		    json_build_object('role', 'tool', 'call_id', 'call_' || index)
		)
		WHERE tenant_id = ? AND session_id = ? AND index BETWEEN 1 AND ?`, f.ref.TenantID, id, long-100)
	if err != nil {
		t.Fatal(err)
	}
	last := sessions.Turn{}
	for told := 0; told < long; told = f.get(t, id).SummarizedTurns {
		if last.Index > long+200 {
			t.Fatalf("after turn %d summaries tell of %d", last.Index, told)
		}
		last = f.turn(t, id, fmt.Sprintf("Question %d?", last.Index))
		await(t, "the summary that the turn has begun is over", func() bool { return !f.Summarising(id) })
	}
	last = f.turn(t, id, "And now?")
	if covered := check(last, true); covered < last.Index-100 {
		t.Errorf("summary and turns tell of %d before turn %d", covered, last.Index)
	}
}
