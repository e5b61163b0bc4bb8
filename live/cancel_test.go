package live_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// holdRow locks the session's row, which turns need to begin, until the transaction ends.
func (f *fixture) holdRow(t *testing.T, id sessions.ID) pgx.Tx {
	t.Helper()
	tx, err := f.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }) // does nothing unless the test failed
	if _, err := tx.Exec(t.Context(), "SELECT FROM sessions WHERE tenant_id = $1 AND id = $2 FOR UPDATE", f.ref.TenantID, id); err != nil {
		t.Fatal(err)
	}
	return tx
}

// awaitLock waits until a statement waits for a row's lock.
func (f *fixture) awaitLock(t *testing.T) {
	t.Helper()
	f.awaitLocks(t, 1)
}

// awaitLocks waits until n statements wait for the locks of rows.
func (f *fixture) awaitLocks(t *testing.T, n int) {
	t.Helper()
	await(t, "somebody waits for the row", func() bool {
		var waiting int
		err := f.db.Pool.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
		return err == nil && waiting >= n
	})
}

// TestCancelledWhileItBegins: an answer that is cancelled or interrupted before its turn has begun
// ends like any cancelled answer.
func TestCancelledWhileItBegins(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]live.Cancel{"Cancelled": {}, "Interrupted": {Speech: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			answered := &script{steps: []step{say("Two.")}}
			f.model = answered
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.UserMessage{Text: "one"})
			until[live.ItemAdded](s)
			row := f.holdRow(t, made.Session.ID)
			s.do(live.Respond{CommandID: "first"})
			f.awaitLock(t)
			s.do(cancel)
			s.do(live.UserMessage{Text: "two"}) // waits for the row too
			if err := row.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.do(live.Respond{CommandID: "second"})
			first, before := until[turns.ResponseDone](s)
			if first.Status != turns.ResponseCancelled || first.Text != "" {
				t.Errorf("first answer %+v", first)
			}
			second, between := until[turns.ResponseDone](s)
			if second.Status != turns.ResponseCompleted || second.Text != "Two." {
				t.Errorf("second answer %+v", second)
			}
			for _, e := range append(before, between...) {
				if failed, is := e.(live.Failed); is {
					t.Errorf("the client is told of a failure: %v", failed.Err)
				}
			}
			taken := f.transcript(t, made.Session.ID)
			if len(taken) != 2 || taken[0].UserText != "one" || taken[0].Status != sessions.TurnCancelled ||
				taken[1].UserText != "two" || taken[1].Status != sessions.TurnCompleted {
				t.Fatalf("transcript %+v", taken)
			}
			if asked := userWords(answered.requests()[0]); asked != "one|two" {
				t.Errorf("the model was told %q", asked)
			}
		})
	}
}

// TestCancelledWhileItWaits: an answer is cancelled while it waits for a turn over HTTP, and the
// user has said more since. Its turn is closed, and the model sees what was said in it.
func TestCancelledWhileItWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	begun := make(chan struct{})
	answered := &script{steps: []step{sayAndWait("Wait", begun), say("Three.")}}
	f.model = answered
	other := f.node(t)
	made := f.create(t)
	s := f.join(t, f.Node, made)
	ctx, hangUp := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := other.Turn(ctx, f.principal, made.Session.ID, "one", nil)
		over <- err
	}()
	received(t, "the turn over HTTP", begun)
	s.do(live.UserMessage{Text: "two"})
	until[live.ItemAdded](s)
	s.do(live.Respond{CommandID: "second"})
	s.do(live.UserMessage{Text: "three"})
	until[live.ItemAdded](s)
	s.do(live.Cancel{Speech: true})
	if failed, _ := until[live.Failed](s); failed.CommandID != "second" {
		t.Errorf("the answer that cannot be given any more: %+v", failed)
	}
	hangUp()
	wantReason(t, <-over, fault.CallerCanceled)
	s.do(live.Respond{})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Three." {
		t.Errorf("answer %+v", done)
	}
	taken := f.transcript(t, made.Session.ID)
	if len(taken) != 3 || taken[1].UserText != "two" || taken[1].Status != sessions.TurnCancelled ||
		taken[2].UserText != "three" || taken[2].Status != sessions.TurnCompleted {
		t.Fatalf("transcript %+v", taken)
	}
	if asked := userWords(answered.requests()[1]); asked != "one|two|three" {
		t.Errorf("the model was told %q", asked)
	}
}

// userWords returns the user's words in a request.
func userWords(req model.Request) (words string) {
	for _, m := range req.Messages {
		if m.Role != model.RoleUser {
			continue
		}
		if words != "" {
			words += "|"
		}
		words += m.Text
	}
	return words
}
