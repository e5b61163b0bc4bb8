package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
// statement of today, which names its tenant, against the same under a policy whose tenant is set
// in the same transaction. A pipeline is one round trip with and without; a single statement is one
// round trip without, and with it one (in a pipeline) or four (in a transaction).
func BenchmarkRowLevelSecurity(b *testing.B) {
	for _, kind := range []string{"none", "policy"} {
		pool := rlsPool(b, kind == "policy")
		const one = "SELECT id, body FROM rls_turns WHERE tenant_id = $1 AND id = $2"
		const many = "SELECT id, body FROM rls_turns WHERE tenant_id = $1 AND session_id = $2 ORDER BY index"
		const change = "UPDATE rls_turns SET body = $3 WHERE tenant_id = $1 AND id = $2"
		queue := func(batch *pgx.Batch, n int64) {
			batch.Queue(many, rlsTenant, rlsSession(n))
			batch.Queue(one, rlsTenant, rlsID(n))
			batch.Queue(change, rlsTenant, rlsID(n), "changed")
			batch.Queue(one, rlsTenant, rlsID(n+1))
		}
		rlsRun(b, "pipeline/"+kind, func(ctx context.Context, n int64) error {
			batch := &pgx.Batch{}
			if kind == "policy" {
				batch.Queue(rlsSetTenant, rlsTenant)
			}
			queue(batch, n)
			return pool.SendBatch(ctx, batch).Close()
		})
		rlsRun(b, "single/"+kind, func(ctx context.Context, n int64) error {
			if kind == "none" {
				_, err := pool.Exec(ctx, one, rlsTenant, rlsID(n))
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue(rlsSetTenant, rlsTenant)
			batch.Queue(one, rlsTenant, rlsID(n))
			return pool.SendBatch(ctx, batch).Close()
		})
		if kind == "policy" {
			rlsRun(b, "single/policy in a transaction", func(ctx context.Context, n int64) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, rlsSetTenant, rlsTenant); err != nil {
						return err
					}
					_, err := tx.Exec(ctx, one, rlsTenant, rlsID(n))
					return err
				})
			})
		}
	}
}

func rlsID(n int64) string      { return fmt.Sprintf("turn_%d", n%2000*100+7) }
func rlsSession(n int64) string { return fmt.Sprintf("ses_%d", n%200*100+7) }

// rlsRun runs work from eight callers.
func rlsRun(b *testing.B, name string, work func(ctx context.Context, n int64) error) {
	b.Run(name, func(b *testing.B) {
		var n atomic.Int64
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := work(b.Context(), n.Add(1)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

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
