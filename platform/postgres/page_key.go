package postgres

import (
	"context"
	"fmt"
)

// PageTokenKey is the 32 bytes that page tokens are authenticated with at the edge. A migration
// made them; they are the same for every server on this database, and never change.
func (d *DB) PageTokenKey(ctx context.Context) ([]byte, error) {
	var secret []byte
	if err := d.Pool.QueryRow(ctx, "SELECT secret FROM page_token_key").Scan(&secret); err != nil {
		return nil, fmt.Errorf("read the key of page tokens: %w", MapError(err))
	}
	return secret, nil
}
