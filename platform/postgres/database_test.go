package postgres_test

import (
	"testing"

	"parlance.dev/parlance/test/pgtest"
)

// newURL makes an empty database for one test.
func newURL(t testing.TB) string {
	t.Helper()
	return pgtest.NewWith(t, pgtest.Empty{}).URL
}
