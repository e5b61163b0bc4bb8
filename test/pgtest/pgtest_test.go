package pgtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/test/pgtest"
)

// notes is a small set of migrations.
type notes struct{}

func (notes) Hash() string { return "notes-1" }

func (notes) Up(ctx context.Context, databaseURL string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "CREATE TABLE notes (id int PRIMARY KEY, place vector(3))")
	return err
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func TestNewWith(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		t.Run(fmt.Sprint("Separate", i), func(t *testing.T) {
			t.Parallel()
			conn := connect(t, pgtest.NewWith(t, notes{}).URL)
			_, err := conn.Exec(t.Context(), "INSERT INTO notes VALUES (1, '[1,2,3]')")
			if err != nil {
				t.Fatalf("insert: %v", err)
			}
			var rows int
			err = conn.QueryRow(t.Context(), "SELECT count(*) FROM notes").Scan(&rows)
			if err != nil || rows != 1 {
				t.Errorf("rows = %d, %v, want this test's own 1", rows, err)
			}
		})
	}
}

func BenchmarkNewWith(b *testing.B) {
	for b.Loop() {
		pgtest.NewWith(b, notes{})
	}
}
