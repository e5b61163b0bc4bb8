package postgres_test

import (
	"strings"
	"syscall"
	"testing"

	"parlance.dev/parlance/platform/postgres"
)

// BenchmarkPipeline does what the end of a turn does: it locks a row by its key and writes some
// KiB.
func BenchmarkPipeline(b *testing.B) {
	db, err := postgres.Open(b.Context(), postgres.Config{URL: newURL(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.Context(), "CREATE TABLE notes (id text PRIMARY KEY, content jsonb, more text)"); err != nil {
		b.Fatal(err)
	}
	if _, err := db.ExecContext(b.Context(), "INSERT INTO notes VALUES ('a')"); err != nil {
		b.Fatal(err)
	}
	content := []byte(`{"text": "` + strings.Repeat("x", 8<<10) + `"}`)
	own := func() int64 {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			b.Fatal(err)
		}
		return used.Utime.Nano() + used.Stime.Nano()
	}
	b.ReportAllocs()
	before, n := own(), 0
	for b.Loop() {
		_, err := db.Pipeline(b.Context(),
			postgres.Step{SQL: "SELECT FROM notes WHERE id = $1 FOR UPDATE", Args: []any{"a"}},
			postgres.Step{
				SQL: "UPDATE notes SET content = $1, more = $2 WHERE id = $3 RETURNING id", Args: []any{content, "more", "a"},
				Row: func(scan func(...any) error) error { var id string; return scan(&id) },
			})
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(own()-before)/float64(n)/1000, "cpu-µs/op")
}
