package postgres_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"parlance.dev/parlance/platform/postgres"
)

// named is a type that pgx knows by what is below it.
type named string

// TestRow: what is read without pgx is read as pgx reads it, its errors included.
func TestRow(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	values := []string{
		"''::text", "'é?'::text", "'a'::varchar(3)", "'b'::char(3)", "7::int4", "-7::int4", "7::int8", "-9223372036854775808::int8", "3::int2", "1.5::float8",
		"true", "false", `'{"a": [1, "\u00e9"]}'::jsonb`, `'{ "a" : null}'::json`, `'\x00ff'::bytea`,
		"'2026-11-22 23:45:13.123456+02'::timestamptz", "'1969-12-31 23:59:59.999999Z'::timestamptz", "'0001-01-01 00:00:00Z'::timestamptz", "'infinity'::timestamptz", "'-infinity'::timestamptz",
		"'2026-11-22'::date", "'{1,2}'::int8[]", "'x'::name",
	}
	into := func() []any {
		return []any{new(string), new([]byte), new(int), new(int64), new(bool), new(time.Time), new(named), new(*string), new(*int), new(*time.Time), new([]int64), new(float64), new(int32), new(any)}
	}
	// What pgx makes of NULL for a place of another type is left to chance, so these have their own places.
	places := map[string]func() []any{
		"NULL::text":        func() []any { return []any{new(string), new(*string), new(named)} },
		"NULL::int4":        func() []any { return []any{new(int), new(int64), new(*int)} },
		"NULL::int8":        func() []any { return []any{new(int), new(int64), new(*int)} },
		"NULL::bool":        func() []any { return []any{new(bool), new(*bool)} },
		"NULL::json":        func() []any { return []any{new([]byte), new(string), new(*string)} },
		"NULL::jsonb":       func() []any { return []any{new([]byte), new(string), new(*string)} },
		"NULL::timestamptz": func() []any { return []any{new(time.Time), new(*time.Time)} },
	}
	for _, value := range values {
		places[value] = into
	}
	for value, into := range places {
		sql := "SELECT " + value
		for i, mine := range into() {
			theirs := into()[i]
			_, err := db.Ask(t.Context(), postgres.Step{SQL: sql, Row: func(scan func(...any) error) error { return scan(mine) }})
			wrong := db.Pool.QueryRow(t.Context(), sql).Scan(theirs)
			if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(mine, theirs) {
				t.Errorf("%s into %T: got %s (%v), want %s (%v)", value, mine, shown(mine), err, shown(theirs), wrong)
			}
		}
	}
	var number int
	_, err := db.Ask(t.Context(), postgres.Step{SQL: "SELECT 1, 2", Row: func(scan func(...any) error) error { return scan(&number) }})
	if err == nil {
		t.Error("a column that nobody asked for is no error")
	}
}

func shown(into any) string { return fmt.Sprintf("%#v", reflect.ValueOf(into).Elem().Interface()) }
