package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// defaultMaxConns suits a server and a worker beside each other under Postgres's default of 100 connections.
const defaultMaxConns = 20

// Config says which database to open and how.
type Config struct {
	// URL is a postgres:// URL or a key=value connection string.
	URL string
	// MaxConns bounds the pool; 0 means 20, or pool_max_conns of the URL. Listen's connections come on top.
	MaxConns int
	// Logger gets the server's notices and lost LISTEN connections; nil discards them.
	Logger *slog.Logger
	// Tracer sees every statement before it is sent; nil is none. Tests look for statements that
	// forget their tenant; see [AllTenants].
	Tracer Tracer
}

// Tracer sees statements; it may be a pgx.BatchTracer and a pgx.CopyFromTracer too.
type Tracer = pgx.QueryTracer

// DB is a pool of connections, spoken to through Bun or, where Bun has no words, through Pool.
type DB struct {
	*bun.DB
	Pool *pgxpool.Pool

	logger *slog.Logger
}

// Open makes the pool and one connection, so that a wrong URL fails here. Errors never hold the password.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	poolConfig, err := poolConfig(cfg, logger)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("making the database pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return &DB{DB: bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New()), Pool: pool, logger: logger}, nil
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
		return nil, fmt.Errorf("reading the database URL: %w", err) // pgx takes the password out
	}
	switch {
	case cfg.MaxConns > 0:
		parsed.MaxConns = int32(min(cfg.MaxConns, 10_000))
	case parsed.MaxConns < defaultMaxConns:
		parsed.MaxConns = defaultMaxConns
	}
	// Bun writes the values into the text, so that no two statements are alike: a cache of
	// prepared statements would only churn.
	parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	parsed.ConnConfig.Tracer = cfg.Tracer
	params := parsed.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "parlance"
	}
	params["timezone"] = "UTC"
	parsed.ConnConfig.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		logger.Debug("database notice", "severity", notice.Severity, "sqlstate", notice.Code, "notice", notice.Message)
	}
	return parsed, nil
}
