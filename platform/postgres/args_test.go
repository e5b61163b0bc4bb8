package postgres_test

import (
	"slices"
	"testing"
	"time"

	"parlance.dev/parlance/platform/postgres"
)

// TestPipelineArgs: every kind of value arrives unchanged, whether its statement is prepared or
// not, and a value that has no form in SQL is refused.
func TestPipelineArgs(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	when := time.Date(2026, 2, 3, 4, 5, 6, 789_012_000, time.FixedZone("", -5*3600))
	texts := []string{"", "a,b", `q"u\o`, "NULL", "{}", "ü"}
	const sql = "SELECT $1::text, $2::jsonb ->> 'a', $3::int, $4::bigint, $5::boolean, $6::timestamptz, " +
		"$7::text[], $8::bigint[], $9::text IS NULL, $10::timestamptz[]"
	for name, config := range map[string]postgres.Config{
		"Prepared": {URL: url}, "Pooled": {URL: url, DirectURL: with(t, url, "application_name", "direct")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := postgres.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for range 2 {
				var text, inner string
				var small int
				var large int64
				var yes, null bool
				var at time.Time
				var list []string
				var numbers []int64
				var times []time.Time
				_, err := db.Pipeline(t.Context(), postgres.Step{Statement: db.NewRaw("SELECT ?", "before")}, postgres.Step{
					SQL: sql,
					Args: []any{
						"it's", []byte(`{"a": "b'"}`), -7, int64(1) << 60, true, when, texts,
						[]int64{-1, 2},
						nil,
						[]time.Time{when, when.Add(time.Hour)},
					},
					Row: func(scan func(...any) error) error {
						return scan(&text, &inner, &small, &large, &yes, &at, &list, &numbers, &null, &times)
					},
				}, postgres.Step{SQL: "SELECT 1 WHERE $1", Args: []any{false}})
				if err != nil {
					t.Fatal(err)
				}
				if text != "it's" || inner != "b'" || small != -7 || large != 1<<60 || !yes || !at.Equal(when) ||
					!slices.Equal(list, texts) || !slices.Equal(numbers, []int64{-1, 2}) || !null || len(times) != 2 ||
					!times[1].Equal(when.Add(time.Hour)) {
					t.Errorf("got %q %q %d %d %v %v %q %v %v", text, inner, small, large, yes, at, list, numbers, null)
				}
			}
			if _, err := db.Pipeline(t.Context(), postgres.Step{SQL: "SELECT $1::float8", Args: []any{struct{}{}}}); err == nil {
				t.Error("a struct was sent")
			}
			if _, err := db.Pipeline(t.Context(), postgres.Step{SQL: "SELECT $1::text", Args: []any{"x"}}); err != nil {
				t.Errorf("after what was refused: %v", err)
			}
		})
	}
}
