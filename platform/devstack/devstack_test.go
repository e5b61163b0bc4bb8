package devstack_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/platform/devstack"
)

func TestStartTwice(t *testing.T) {
	o := devstack.Options{DataDir: t.TempDir() + "/d", Log: t.Logf}
	began := time.Now()
	s, err := devstack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began), s)
	began = time.Now()
	s2, err := devstack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began), s2.Reused, s2.DataDir)
	c, err := pgx.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	var x, y string
	if err := c.QueryRow(t.Context(), "select '[1,2]'::vector <-> '[2,3]', current_setting('hnsw.iterative_scan')").Scan(&x, &y); err != nil {
		t.Log(err)
	}
	t.Log(x, y)
	c.Close(t.Context())
	t.Log(s2.Stop(context.Background()))
	began = time.Now()
	t.Log(s.Stop(context.Background()), time.Since(began))
}
