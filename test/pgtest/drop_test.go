package pgtest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/test/pgtest"
)

func TestDroppedAtTheEnd(t *testing.T) {
	t.Parallel()
	var ended pgtest.DB
	t.Run("Inner", func(t *testing.T) {
		ended = pgtest.New(t)
		connect(t, ended.URL)
	})
	conn, err := pgx.Connect(t.Context(), ended.URL)
	if err == nil {
		_ = conn.Close(t.Context())
		t.Errorf("database %s is still there after its test", ended.Name)
	}
}
