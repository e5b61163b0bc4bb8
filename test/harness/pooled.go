//go:build pooled

package harness

import (
	"testing"

	"parlance.dev/parlance/test/pooler"
)

// throughPooler is the database's URL through PgBouncer in transaction mode.
func throughPooler(t testing.TB, databaseURL string) string {
	return pooler.Start(t, databaseURL, pooler.Transaction)
}
