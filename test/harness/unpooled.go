//go:build !pooled

package harness

import "testing"

// throughPooler is the database's own URL: a pooler is put before it by the build tag pooled.
func throughPooler(_ testing.TB, databaseURL string) string { return databaseURL }
