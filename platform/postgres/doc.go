// Package postgres is how the rest of Parlance reaches its database: one pool (pgx) with Bun on
// top, transactions that are run again after a collision, pipelines of statements in one round
// trip, keyset pages, LISTEN, advisory locks and migrations. It knows no table but the migrator's
// own.
//
// Statements go through Bun, which formats values into the SQL on the client: every `?` in a
// statement is a placeholder, so operators such as `a ? 'k'` are written jsonb_exists(a, 'k').
// DB.Pool is the same pool without Bun, for COPY and the like.
//
// Errors: see [MapError], [IsUnique], [IsForeignKey], [NoRows].
package postgres
