package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

// log is a log with a tenant and a clock that the test moves.
type log struct {
	*audit.Service
	db      *postgres.DB
	tenant  workspaces.TenantID
	tenants *workspaces.Service
	mu      sync.Mutex
	at      time.Time
}

func (l *log) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *log) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = l.at.Add(d)
}

func open(t *testing.T) *log {
	t.Helper()
	l := &log{db: pgtest.Open(t), at: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)}
	l.Service = audit.New(audit.Deps{DB: l.db, Now: l.now})
	l.tenants = workspaces.New(workspaces.Deps{DB: l.db, Now: l.now})
	l.tenant = l.create(t)
	return l
}

func (l *log) create(t *testing.T) workspaces.TenantID {
	t.Helper()
	made, err := l.tenants.CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	return made.Tenant.ID
}

// entry is an entry with texts that are hard to write as JSON.
func (l *log) entry(t *testing.T, name string) audit.Entry {
	t.Helper()
	after, err := audit.Settings(map[string]any{
		"name": name, "odd": "\"\\\b\f\n\r\t\x01\x7f\u2028é😀<&>",
		"": []any{nil, true, int64(-7), map[string]any{"b": "1", "a": "2", "😀": "", "\uffff": ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return audit.Entry{
		TenantID: l.tenant, Action: "agent.create", ActorKind: audit.ActorKey, ActorID: "key_1", ActorName: "ops", Outcome: audit.Done,
		UserAgent: "curl\x00\xff " + strings.Repeat("x", 1000), After: after,
	}
}

func (l *log) append(t *testing.T, count int) {
	t.Helper()
	for i := range count {
		if err := l.Append(t.Context(), l.entry(t, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
}

// verify checks the chain and returns the number of the first broken entry, 0 for a whole chain.
func (l *log) verify(t *testing.T, v *audit.Verifier) int64 {
	t.Helper()
	err := l.Verify(t.Context(), l.tenant, v)
	broken, ok := errors.AsType[*audit.BrokenError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if ok {
		t.Log(broken)
		return broken.Number
	}
	return 0
}

// tamper changes the table as somebody who owns the database could.
func (l *log) tamper(t *testing.T, statements ...string) {
	t.Helper()
	statements = append([]string{"ALTER TABLE audit_entries DISABLE TRIGGER USER"}, statements...)
	statements = append(statements, "ALTER TABLE audit_entries ENABLE TRIGGER USER")
	for _, statement := range statements {
		if _, err := l.db.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChain(t *testing.T) {
	t.Parallel()
	l := open(t)
	const writers = 50
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			if err := l.Append(t.Context(), l.entry(t, fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	var v audit.Verifier
	if broken := l.verify(t, &v); broken != 0 || v.Count != writers || v.First.Number != 1 || v.Last.Number != writers {
		t.Errorf("broken at %d; %d entries, %d to %d", broken, v.Count, v.First.Number, v.Last.Number)
	}
	if !v.Last.At.After(v.First.At) || len(v.Last.UserAgent) != 512 || strings.Contains(v.Last.UserAgent, "\x00") {
		t.Errorf("the last entry is at %s, by %q", v.Last.At, v.Last.UserAgent)
	}
}

func TestTampering(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		statements []string
		broken     int64
	}{
		{"a changed field", []string{"UPDATE audit_entries SET actor_id = 'key_2' WHERE number = 3"}, 3},
		{"a changed setting", []string{`UPDATE audit_entries SET after = jsonb_set(after, '{name}', '"x"') WHERE number = 4`}, 4},
		{"a changed time", []string{"UPDATE audit_entries SET at = at + interval '1 microsecond' WHERE number = 2"}, 2},
		{"a removed entry", []string{"DELETE FROM audit_entries WHERE number = 2"}, 2},
		{"a removed entry, the others renumbered", []string{
			"DELETE FROM audit_entries WHERE number = 2", "UPDATE audit_entries SET number = number - 1 WHERE number = 3",
			"UPDATE audit_entries SET number = number - 1 WHERE number = 4", "UPDATE audit_entries SET number = number - 1 WHERE number = 5",
		}, 2},
		{"a removed beginning", []string{"DELETE FROM audit_entries WHERE number = 1"}, 1},
		{"two entries that changed places", []string{
			"UPDATE audit_entries SET number = 99 WHERE number = 2", "UPDATE audit_entries SET number = 2 WHERE number = 3",
			"UPDATE audit_entries SET number = 3 WHERE number = 99",
		}, 2},
		{"a removed end", []string{"DELETE FROM audit_entries WHERE number = 5"}, 5},
		{"nothing", nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			l.append(t, 5)
			var before audit.Verifier
			if broken := l.verify(t, &before); broken != 0 {
				t.Fatalf("broken at %d before anything was changed", broken)
			}
			anchor := before.Head()
			l.tamper(t, row.statements...)
			if got := l.verify(t, &audit.Verifier{Anchor: &anchor}); got != row.broken {
				t.Errorf("broken at %d, want %d", got, row.broken)
			}
		})
	}
}

// TestAnchor: a chain that was computed anew is whole, and only an anchor tells.
func TestAnchor(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.append(t, 3)
	var v audit.Verifier
	l.verify(t, &v)
	anchor, err := audit.ParseAnchor(v.Head().String())
	if err != nil {
		t.Fatal(err)
	}
	l.append(t, 1)
	if broken := l.verify(t, &audit.Verifier{Anchor: &anchor}); broken != 0 {
		t.Errorf("broken at %d after another entry", broken)
	}
	l.tamper(t, "DELETE FROM audit_entries")
	l.append(t, 4)
	if broken := l.verify(t, &audit.Verifier{}); broken != 0 {
		t.Errorf("broken at %d without an anchor", broken)
	}
	if broken := l.verify(t, &audit.Verifier{Anchor: &anchor}); broken != 3 {
		t.Errorf("broken at %d, want 3", broken)
	}
	hash, _, _ := strings.Cut(anchor.String(), "@")
	for _, wrong := range []string{"", "x@1", anchor.String() + "0x", hash, "ab@3", hash + "@0"} {
		if _, err := audit.ParseAnchor(wrong); err == nil {
			t.Errorf("%q was read as an anchor", wrong)
		}
	}
}

func TestAppendOnly(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.append(t, 2)
	for _, statement := range []string{
		"UPDATE audit_entries SET outcome = 'unknown'", "DELETE FROM audit_entries WHERE number = 2", "TRUNCATE audit_entries",
		"TRUNCATE tenants CASCADE",
	} {
		if _, err := l.db.Pool.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "neither changed nor deleted") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if err := l.tenants.DeleteTenant(t.Context(), l.tenant); err != nil {
		t.Fatal(err)
	}
	if left, err := l.db.NewSelect().Table("audit_entries").Count(t.Context()); err != nil || left != 0 {
		t.Errorf("%d entries are left of a deleted tenant (%v)", left, err)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	l := open(t)
	begin := func() *audit.Pending {
		p, err := l.Begin(t.Context(), l.entry(t, "begun"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	outcomes := func() (list []audit.Outcome) {
		t.Helper()
		if err := l.Each(t.Context(), l.tenant, 0, func(e audit.Entry) error { list = append(list, e.Outcome); return nil }); err != nil {
			t.Fatal(err)
		}
		return list
	}
	waiting := func() int64 {
		t.Helper()
		count, err := l.db.NewSelect().Table("audit_pending").Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	finished, dropped, lost := begin(), begin(), begin()
	if err := finished.Finish(t.Context(), func(e *audit.Entry) error { e.Outcome = audit.Done; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := dropped.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Sweep(t.Context(), l.now()); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(); len(got) != 1 || got[0] != audit.Done || waiting() != 1 {
		t.Fatalf("got %v and %d changes that have begun", got, waiting())
	}
	begun := l.now()
	l.pass(time.Hour)
	if err := errors.Join(l.Sweep(t.Context(), l.now()), l.Sweep(t.Context(), l.now())); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(); len(got) != 2 || got[1] != audit.Unknown || waiting() != 0 {
		t.Fatalf("got %v and %d changes that have begun", got, waiting())
	}
	// The process was only slow: what it did is written as well.
	if err := lost.Finish(t.Context(), func(e *audit.Entry) error { e.Outcome = audit.Done; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(); len(got) != 3 || got[2] != audit.Done {
		t.Errorf("got %v", got)
	}
	var v audit.Verifier
	if broken := l.verify(t, &v); broken != 0 || !v.Last.BegunAt.Equal(begun) {
		t.Errorf("broken at %d; the last change began at %s", broken, v.Last.BegunAt)
	}
}

// TestLines: an export is verified without the database, whole or from an entry on.
func TestLines(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.append(t, 3)
	read := func(after int64) (lines [][]byte) {
		t.Helper()
		err := l.Each(t.Context(), l.tenant, after, func(e audit.Entry) error {
			line, err := e.Line()
			lines = append(lines, line)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	check := func(v *audit.Verifier, lines ...[]byte) error {
		t.Helper()
		for _, line := range lines {
			e, err := audit.ParseLine(line)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Add(e); err != nil {
				return err
			}
		}
		return v.Close()
	}
	whole := read(0)
	if err := check(&audit.Verifier{}, whole...); err != nil {
		t.Error(err)
	}
	if err := check(&audit.Verifier{Partial: true}, read(1)...); err != nil {
		t.Error(err)
	}
	if err := check(&audit.Verifier{}, read(1)...); err == nil {
		t.Error("an export without its beginning was taken for a whole one")
	}
	if err := check(&audit.Verifier{}, whole[0], whole[2]); err == nil {
		t.Error("a line that was removed is not missed")
	}
	if err := check(&audit.Verifier{}, bytes.Replace(whole[0], []byte("agent.create"), []byte("agent.delete"), 1)); err == nil {
		t.Error("a line that was changed passes")
	}
	if _, err := audit.ParseLine(bytes.Replace(whole[0], []byte(`{"action"`), []byte(`{"more":1,"action"`), 1)); err == nil {
		t.Error("a line with another member was read")
	}
}
