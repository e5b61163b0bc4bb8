package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// Binary reads the one row of a statement in the server's binary form, in which bytes take half of what they take
// as text: for long ones. Errors: as MapError leaves them.
func (d *DB) Binary(ctx context.Context, statement bun.Query, into ...any) error {
	text, err := statement.AppendQuery(d.QueryGen(), nil)
	if err != nil {
		return fmt.Errorf("formatting a statement: %w", err)
	}
	formats := make(pgx.QueryResultFormats, len(into))
	for i := range formats {
		formats[i] = pgx.BinaryFormatCode
	}
	return MapError(d.Pool.QueryRow(ctx, string(text), formats).Scan(into...))
}
