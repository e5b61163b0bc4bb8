package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/pgtest"
)

// The tenant of a statement as a policy sees it, and how a transaction says it.
const (
	rlsTenant = "ten_0000000000000000000000007"
	rlsPolicy = `
CREATE POLICY own ON rls_turns
    USING (tenant_id = (SELECT current_setting('parlance.tenant_id', true)))`
	rlsSetTenant = "SELECT set_config('parlance.tenant_id', $1, true)"
)

// BenchmarkRowLevelSecurity measures what a policy on a tenant's table costs (decision 0054): the
// statements of today, which name their tenant, against the same under a policy whose tenant is set
// in the same transaction. Blocks of both take turns, so that what else the machine does hits both;
// the metric is the median of how much longer the policy's took, in percent. A pipeline is one
// round trip with and without a policy. A single statement is one without; under a policy it is
// one in a pipeline, and four in a transaction of database/sql.
func BenchmarkRowLevelSecurity(b *testing.B) {
	const (
		one    = "SELECT id, body FROM rls_turns WHERE tenant_id = $1 AND id = $2"
		many   = "SELECT id, body FROM rls_turns WHERE tenant_id = $1 AND session_id = $2 ORDER BY index"
		change = "UPDATE rls_turns SET body = $3 WHERE tenant_id = $1 AND id = $2"
	)
	plain, policy := rlsPool(b, false), rlsPool(b, true)
	turn := func(batch *pgx.Batch, n int64) *pgx.Batch {
		batch.Queue(many, rlsTenant, rlsSession(n))
		batch.Queue(one, rlsTenant, rlsID(n))
		batch.Queue(change, rlsTenant, rlsID(n), "changed")
		batch.Queue(one, rlsTenant, rlsID(n+1))
		return batch
	}
	own := func() *pgx.Batch {
		batch := &pgx.Batch{}
		batch.Queue(rlsSetTenant, rlsTenant)
		return batch
	}
	single := func(ctx context.Context, n int64) error {
		_, err := plain.Exec(ctx, one, rlsTenant, rlsID(n))
		return err
	}
	rlsCompare(b, "pipeline of four",
		func(ctx context.Context, n int64) error { return plain.SendBatch(ctx, turn(&pgx.Batch{}, n)).Close() },
		func(ctx context.Context, n int64) error { return policy.SendBatch(ctx, turn(own(), n)).Close() })
	rlsCompare(b, "single in a pipeline", single, func(ctx context.Context, n int64) error {
		batch := own()
		batch.Queue(one, rlsTenant, rlsID(n))
		return policy.SendBatch(ctx, batch).Close()
	})
	rlsCompare(b, "single in a transaction", single, func(ctx context.Context, n int64) error {
		return pgx.BeginFunc(ctx, policy, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, rlsSetTenant, rlsTenant); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, one, rlsTenant, rlsID(n))
			return err
		})
	})
}

// rlsCompare runs blocks of both in turns.
func rlsCompare(b *testing.B, name string, without, with func(ctx context.Context, n int64) error) {
	const callers, calls = 8, 25
	block := func(work func(ctx context.Context, n int64) error) time.Duration {
		began := time.Now()
		var running errgroup.Group
		for caller := range callers {
			running.Go(func() error {
				for i := range calls {
					if err := work(b.Context(), int64(caller*calls+i)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := running.Wait(); err != nil {
			b.Error(err)
		}
		return time.Since(began)
	}
	b.Run(name, func(b *testing.B) {
		var more []float64
		for b.Loop() {
			before := block(without)
			more = append(more, 100*(block(with).Seconds()/before.Seconds()-1))
		}
		slices.Sort(more)
		b.ReportMetric(more[len(more)/2], "%more")
	})
}

func rlsID(n int64) string      { return fmt.Sprintf("turn_%d", n%2000*100+7) }
func rlsSession(n int64) string { return fmt.Sprintf("ses_%d", n%200*100+7) }

// rlsPool is a pool whose role is not a superuser, on a table with 100 tenants.
func rlsPool(b *testing.B, policy bool) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(pgtest.New(b).URL)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = 8
	admin, err := pgx.ConnectConfig(b.Context(), config.ConnConfig.Copy())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = admin.Close(b.Context()) }() // its work is done
	statements := []string{
		"CREATE TABLE rls_turns (id text PRIMARY KEY, tenant_id text NOT NULL, session_id text NOT NULL, index int NOT NULL, body text NOT NULL)",
		`INSERT INTO rls_turns
		 SELECT 'turn_' || n, 'ten_' || lpad((n % 100)::text, 25, '0'), 'ses_' || (n % 20000), n / 20000, repeat('x', 500)
		 FROM generate_series(0, 199999) AS n`,
		"CREATE INDEX ON rls_turns (session_id, index)",
		"DO $$ BEGIN CREATE ROLE rls_bench; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
		"GRANT ALL ON rls_turns TO rls_bench",
		"ANALYZE rls_turns",
	}
	if policy {
		statements = append(statements, "ALTER TABLE rls_turns ENABLE ROW LEVEL SECURITY", rlsPolicy)
	}
	for _, statement := range statements {
		if _, err := admin.Exec(b.Context(), statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET ROLE rls_bench")
		return err
	}
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}
