package live_test

import (
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// TestNoticesMissed changes sessions without notices. A node that may have missed some checks its
// sessions.
func TestNoticesMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended, taken, other, left := f.create(t), f.create(t), f.create(t), f.create(t)
	gone, replaced, beside, stays := f.join(t, f.Node, ended), f.join(t, f.Node, taken), f.join(t, f.Node, other), f.join(t, f.Node, left)
	for _, change := range []struct {
		sql string
		id  sessions.ID
	}{
		{"UPDATE sessions SET status = 'completed', end_reason = 'unheard', ended_at = now() WHERE id = ?", ended.Session.ID},
		{"UPDATE session_connections SET node_id = 'node_other', number = number + 1000 WHERE session_id = ?", taken.Session.ID},
		{`INSERT INTO session_connections
			SELECT session_id, 'voice', tenant_id, 1000, 'node_other', now(), now()
			FROM session_connections WHERE session_id = ?`, other.Session.ID},
	} {
		if _, err := f.db.ExecContext(t.Context(), change.sql, change.id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.db.ExecContext(t.Context(), "SELECT pg_notify(?, '')", sessions.NotifyChannel); err != nil {
		t.Fatal(err)
	}
	if closed, ok := gone.next().(live.Closed); !ok || !closed.Ended || closed.Reason != "unheard" {
		t.Errorf("the session that ended: %+v", closed)
	}
	if closed, ok := replaced.next().(live.Closed); !ok || closed.Code != live.CloseReplaced {
		t.Errorf("the socket that was replaced: %+v", closed)
	}
	for _, s := range []*socket{beside, stays} {
		s.do(live.UserMessage{Text: "Still here."})
		if _, ok := s.next().(live.ItemAdded); !ok {
			t.Error("a socket that nothing happened to is gone")
		}
	}
}
