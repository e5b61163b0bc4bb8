// Package dump reads everything that an installation stores, as text, to look in it for what must
// not be there.
package dump

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
)

// Postgres is every row of every table; bytea is in hex there.
func Postgres(ctx context.Context, url string) ([]byte, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect to Postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // only read
	tables, err := rows(ctx, conn, `
SELECT table_name::text
FROM information_schema.tables
WHERE table_schema = 'public'
  AND table_type = 'BASE TABLE'`)
	if err != nil {
		return nil, err
	}
	var dump bytes.Buffer
	for _, table := range tables {
		all, err := rows(ctx, conn, "SELECT r::text FROM "+pgx.Identifier{table}.Sanitize()+" AS r")
		if err != nil {
			return nil, err
		}
		for _, row := range all {
			fmt.Fprintf(&dump, "%s: %s\n", table, row)
		}
	}
	return dump.Bytes(), nil
}

func rows(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	found, err := conn.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	return pgx.CollectRows(found, pgx.RowTo[string])
}

// Redis is every key and value.
func Redis(ctx context.Context, url string) ([]byte, error) {
	options, err := goredis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("read the URL of Redis: %w", err)
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }() // only read
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		return nil, fmt.Errorf("read the keys of Redis: %w", err)
	}
	var dump bytes.Buffer
	for _, key := range keys {
		var value any
		switch client.Type(ctx, key).Val() {
		case "string":
			value = client.Get(ctx, key).Val()
		case "list":
			value = client.LRange(ctx, key, 0, -1).Val()
		case "hash":
			value = client.HGetAll(ctx, key).Val()
		case "set":
			value = client.SMembers(ctx, key).Val()
		case "zset":
			value = client.ZRange(ctx, key, 0, -1).Val()
		case "stream":
			value = client.XRange(ctx, key, "-", "+").Val()
		}
		fmt.Fprintf(&dump, "%s: %v\n", key, value)
	}
	return dump.Bytes(), nil
}

// Files are the files below a directory by their paths. One that is gone by the time it is read is
// left out.
func Files(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		files[path] = content
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the files below %s: %w", dir, err)
	}
	return files, nil
}
