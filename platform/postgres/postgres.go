package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// defaultMaxConns suits a server and a worker beside each other under Postgres's default of 100
// connections.
const defaultMaxConns = 20

const (
	// connectTimeout is for URLs without connect_timeout; with several hosts it holds for each.
	connectTimeout = 10 * time.Second
	// pingTimeout is what a connection that was idle gets to show that it lives.
	pingTimeout = 5 * time.Second
)

// Config says which database to open and how.
type Config struct {
	// URL is a postgres:// URL or a key=value connection string. A pooler that shares connections
	// out by transaction may stand behind it when DirectURL is set.
	URL string
	// DirectURL is the same database without such a pooler, for Listen and TryLock; empty is URL.
	DirectURL string
	// MaxConns bounds the pool; 0 means 20, or pool_max_conns of the URL. Listen's connections come
	// on top.
	MaxConns int
	// Logger gets the server's notices and lost LISTEN connections; nil discards them.
	Logger *slog.Logger
	// Tracer sees every statement before it is sent; nil is none. Tests look for statements that
	// forget their tenant; see [AllTenants].
	Tracer Tracer
}

// Tracer sees statements; it may be a pgx.BatchTracer and a pgx.CopyFromTracer too.
type Tracer = pgx.QueryTracer

// DB is a pool of connections, used through Bun, or through Pool for what Bun cannot express.
type DB struct {
	*bun.DB
	Pool *pgxpool.Pool

	direct *pgx.ConnConfig
	// pooled is true when a pooler shares the connections out: statements cannot be prepared on
	// them.
	pooled bool
	logger *slog.Logger
	words  []int32 // see Announce
}

// Open makes the pool and one connection, so that a wrong URL fails here, and so does a server that
// we cannot work with: older than Postgres 15, not in UTF8, read-only, with an old pgvector. Errors
// never hold the password.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	poolConfig, err := poolConfig(cfg, logger)
	if err != nil {
		return nil, err
	}
	direct := poolConfig.ConnConfig
	pooled := cfg.DirectURL != "" && cfg.DirectURL != cfg.URL
	if !pooled {
		poolConfig.AfterConnect = keepGoodPlans
	} else {
		if direct, err = connConfig(cfg.DirectURL, logger); err != nil {
			return nil, err
		}
		direct.Tracer = cfg.Tracer
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("making the database pool: %w", err)
	}
	if err := checkServer(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	// A column that a newer version has added beside this process is no fault of its rows.
	return &DB{
		DB:   bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New(), bun.WithDiscardUnknownColumns()),
		Pool: pool, direct: direct, pooled: pooled, logger: logger,
	}, nil
}

// Close waits for the connections in use to be given back and closes them all.
func (d *DB) Close() error {
	err := d.DB.Close()
	d.Pool.Close()
	if err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	return nil
}

func poolConfig(cfg Config, logger *slog.Logger) (*pgxpool.Config, error) {
	if cfg.URL == "" {
		return nil, errors.New("the database URL is empty")
	}
	parsed, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, NewURLError(cfg.URL, err)
	}
	switch {
	case cfg.MaxConns > 0:
		parsed.MaxConns = int32(min(cfg.MaxConns, 10_000))
	case parsed.MaxConns < defaultMaxConns:
		parsed.MaxConns = defaultMaxConns
	}
	parsed.PingTimeout = pingTimeout
	configure(parsed.ConnConfig, logger)
	parsed.ConnConfig.Tracer = cfg.Tracer
	return parsed, nil
}

// connConfig is for connections outside the pool.
func connConfig(databaseURL string, logger *slog.Logger) (*pgx.ConnConfig, error) {
	parsed, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, NewURLError(databaseURL, err)
	}
	configure(parsed, logger)
	return parsed, nil
}

// keepGoodPlans lets Postgres keep the plan of a prepared statement for values of every kind: to
// plan the statements of a turn at each run took as long as to run them. A plan that was made while
// a table was nearly empty must serve when it is large, so it may not scan a table that has an
// index for the question, as all of ours have. Where nothing but a scan is left it still scans;
// jit, which would compile such a plan for its cost, is off.
func keepGoodPlans(ctx context.Context, conn *pgx.Conn) error {
	// The statement does not go through conn.Exec: it is none of those that Config.Tracer looks for.
	if err := conn.PgConn().Exec(ctx, "SET enable_seqscan = off; SET jit = off").Close(); err != nil {
		return fmt.Errorf("setting how statements are planned: %w", err)
	}
	return nil
}

// configure sets what all connections have in common. Nothing of it needs a session: PgBouncer
// passes these two parameters on, and where it stands no statement is prepared by name.
func configure(config *pgx.ConnConfig, logger *slog.Logger) {
	// Bun writes the values into the text, so that no two statements are alike: a cache of
	// prepared statements would only churn. Pipeline prepares those of Step.SQL.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "parlance"
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	// A host that is gone without a word, as in a failover, is noticed within half a minute.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	config.DialFunc = dialer.DialContext
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		logger.Debug("database notice", "severity", notice.Severity, "sqlstate", notice.Code, "notice", notice.Message)
	}
	config.OnPgError = keepConnection
}

// keepConnection returns whether a connection stays open after an error. A connection to a server
// that has become a standby refuses every write, so it is closed; the next one finds the primary.
func keepConnection(_ *pgconn.PgConn, answer *pgconn.PgError) bool {
	return !strings.EqualFold(answer.Severity, "FATAL") && answer.Code != readOnlyTransaction
}
