package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

func open(t *testing.T, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec(t *testing.T, db bun.IDB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db bun.IDB, table string) (n int) {
	t.Helper()
	if err := db.NewSelect().Table(table).ColumnExpr("count(*)").Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		db := open(t, newURL(t))
		var zone, name string
		if err := db.QueryRowContext(t.Context(), "SELECT current_setting('timezone'), "+
			"current_setting('application_name')").Scan(&zone, &name); err != nil {
			t.Fatal(err)
		}
		if zone != "UTC" || name != "parlance" {
			t.Errorf("timezone %q, application_name %q", zone, name)
		}
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		for _, url := range []string{
			"", "postgres://u:hunter2@%zz", "postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=1",
			"postgres://u:hunter2/b@h/x", "postgres://u:hunter2#b@h/x", "postgres://u:a@hunter2@h:p/x", "postgres://u:hunter2:b@h:p/x",
			"postgres://u:hunter2?b@h/x", "user=u password = hunter2 more", "user=u password='hunter2", "postgres://u:hunter2@h/x?sslmode=no",
		} {
			_, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Open(%q) = %v, want an error without the password", url, err)
			}
		}
	})
}

func TestInTx(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE notes (id int PRIMARY KEY)")

	t.Run("CommitAndRollback", func(t *testing.T) {
		broken := errors.New("broken")
		err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			exec(t, tx, "INSERT INTO notes VALUES (1)")
			return broken
		})
		if !errors.Is(err, broken) || count(t, db, "notes") != 0 {
			t.Errorf("after a failure: %v, %d rows", err, count(t, db, "notes"))
		}
		err = postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			exec(t, tx, "INSERT INTO notes VALUES (1)")
			return nil
		})
		if err != nil || count(t, db, "notes") != 1 {
			t.Errorf("after a success: %v, %d rows", err, count(t, db, "notes"))
		}
	})
	t.Run("Savepoint", func(t *testing.T) {
		err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			inner := postgres.InTx(ctx, tx, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO notes VALUES (1)")
				return err
			})
			if !postgres.IsUnique(inner, "notes_pkey") {
				t.Errorf("inner error %v, want a violation of notes_pkey", inner)
			}
			exec(t, tx, "INSERT INTO notes VALUES (2)")
			return nil
		})
		if err != nil || count(t, db, "notes") != 2 {
			t.Errorf("outer: %v, %d rows", err, count(t, db, "notes"))
		}
	})
	t.Run("CollisionsEnd", func(t *testing.T) {
		runs := 0
		err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			if runs++; runs > 2 {
				return nil
			}
			return raise(ctx, tx, "40001")
		})
		if err != nil || runs != 3 {
			t.Errorf("got %v after %d runs, want nil after 3", err, runs)
		}
	})
	t.Run("CollisionsDoNotEnd", func(t *testing.T) {
		runs := 0
		err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			runs++
			return fmt.Errorf("storing: %w", raise(ctx, tx, "40P01"))
		})
		if !fault.IsReason(err, fault.Conflict) || runs != 4 {
			t.Errorf("got %v after %d runs, want conflict after 4", err, runs)
		}
	})
}

// TestRealCollision has two transactions wait for each other's row: Postgres kills one, InTx runs
// it again.
func TestRealCollision(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE accounts (id int PRIMARY KEY, changes int NOT NULL)")
	exec(t, db, "INSERT INTO accounts VALUES (1, 0), (2, 0)")
	change := func(first, second int, meet func()) error {
		return postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.ExecContext(ctx, "UPDATE accounts SET changes = changes + 1 WHERE id = ?", first); err != nil {
				return err
			}
			meet()
			_, err := tx.ExecContext(ctx, "UPDATE accounts SET changes = changes + 1 WHERE id = ?", second)
			return err
		})
	}
	// Each closes its own channel on its first run and waits for the other's.
	left, right := make(chan struct{}), make(chan struct{})
	meeting := func(own, other chan struct{}) func() {
		met := false
		return func() {
			if !met {
				met = true
				close(own)
				<-other
			}
		}
	}
	done := make(chan error, 2)
	go func() { done <- change(1, 2, meeting(left, right)) }()
	go func() { done <- change(2, 1, meeting(right, left)) }()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var changes int
	if err := db.QueryRowContext(t.Context(), "SELECT sum(changes) FROM accounts").Scan(&changes); err != nil || changes != 4 {
		t.Errorf("%d changes (%v), want 4", changes, err)
	}
}

func raise(ctx context.Context, tx bun.Tx, state string) error {
	_, err := tx.ExecContext(ctx, "DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '"+state+"'; END $$")
	return err
}

func TestErrors(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE owners (id int PRIMARY KEY)")
	exec(t, db, "CREATE TABLE pets (id int, owner_id int CONSTRAINT pets_owner REFERENCES owners (id))")

	_, err := db.ExecContext(t.Context(), "INSERT INTO pets VALUES (1, 7)")
	err = fmt.Errorf("storing: %w", err)
	if !postgres.IsForeignKey(err, "pets_owner") || !postgres.IsForeignKey(err, "") || postgres.IsForeignKey(err, "other") ||
		postgres.IsUnique(err, "") {
		t.Errorf("foreign key violation not told apart: %v", err)
	}
	if got := postgres.MapError(err); !errors.Is(got, err) || fault.ReasonOf(got) != fault.InternalError {
		t.Errorf("MapError(%v) = %v, want it as it is", err, got)
	}
	var id int
	if err := db.NewSelect().Table("owners").Column("id").Scan(t.Context(), &id); !postgres.NoRows(err) {
		t.Errorf("NoRows(%v) = false", err)
	}
	for state, want := range map[string]fault.Reason{
		"40001": fault.Conflict, "57P01": fault.ServiceUnavailable,
		"53300": fault.ServiceUnavailable, "22012": fault.InternalError,
	} {
		_, err := db.ExecContext(t.Context(), "DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '"+state+"'; END $$")
		if got := fault.ReasonOf(postgres.MapError(err)); got != want {
			t.Errorf("%s: reason %q, want %q", state, got, want)
		}
	}
	_, err = postgres.Open(t.Context(), postgres.Config{URL: "postgres://u@127.0.0.1:1/x"})
	if got := fault.ReasonOf(postgres.MapError(err)); got != fault.ServiceUnavailable {
		t.Errorf("a refused connection: reason %q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = db.ExecContext(ctx, "SELECT pg_sleep(60)")
	if got := fault.ReasonOf(postgres.MapError(err)); got != fault.DeadlineExceeded {
		t.Errorf("a passed deadline: reason %q (%v)", got, err)
	}
}

func TestTryLock(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	mine, theirs := open(t, url), open(t, url)
	ctx, hangUp := context.WithCancel(t.Context())
	broken := errors.New("broken")
	ran, err := mine.TryLock(ctx, "sweep", func(context.Context) error {
		ran, err := theirs.TryLock(t.Context(), "sweep", func(context.Context) error { return nil })
		if ran || err != nil {
			t.Errorf("a second holder ran: %v, %v", ran, err)
		}
		if ran, err := theirs.TryLock(t.Context(), "other", func(context.Context) error { return nil }); !ran || err != nil {
			t.Errorf("another lock did not run: %v, %v", ran, err)
		}
		hangUp() // the lock must be given back all the same
		return broken
	})
	if !ran || !errors.Is(err, broken) {
		t.Errorf("TryLock = %v, %v", ran, err)
	}
	if ran, err := theirs.TryLock(t.Context(), "sweep", func(context.Context) error { return nil }); !ran || err != nil {
		t.Errorf("the lock was not given back: %v, %v", ran, err)
	}
}

func TestLockTx(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	db := open(t, url)
	held, release := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
			if err := postgres.LockTx(ctx, tx, "quota"); err != nil {
				return err
			}
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	lock := func(ctx context.Context) error {
		return postgres.InTx(ctx, db, func(ctx context.Context, tx bun.Tx) error { return postgres.LockTx(ctx, tx, "quota") })
	}
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := lock(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v, want to wait until the deadline", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := lock(t.Context()); err != nil {
		t.Errorf("a free lock: %v", err)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	ctx, stop := context.WithCancel(t.Context())
	got, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- db.Listen(ctx, "Odd name", func(payload string) { got <- payload }) }()
	expect := func(want string) {
		t.Helper()
		select {
		case payload := <-got:
			if payload != want {
				t.Errorf("payload %q, want %q", payload, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("payload %q did not come", want)
		}
	}
	expect("")
	exec(t, db, "SELECT pg_notify('Odd name', 'one')")
	expect("one")
	exec(t, db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()")
	expect("") // connected again
	exec(t, db, "SELECT pg_notify('Odd name', 'two')")
	expect("two")
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Listen ended with %v", err)
	}
}
