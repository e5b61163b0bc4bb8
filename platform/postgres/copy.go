package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// CopyParams are rows for COPY, which takes them several times faster than INSERT.
type CopyParams struct {
	Table   string
	Columns []string
	Rows    int
	// RowFunc gives the values of row i, one a column: string for text, int for integer, []byte for
	// bytea, []float32 for vector. The slice may be used again.
	RowFunc func(i int) []any
}

// CopyFunc copies rows within the transaction it was made for.
type CopyFunc func(ctx context.Context, p CopyParams) error

// InCopyTx is InTx with a way to COPY within the transaction.
func (d *DB) InCopyTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx, copyIn CopyFunc) error) error {
	conn, err := d.Conn(ctx)
	if err != nil {
		return MapError(fmt.Errorf("taking a connection: %w", err))
	}
	defer func() { _ = conn.Close() }() // back to the pool: nothing to do about an error
	return InTx(ctx, conn, func(ctx context.Context, tx bun.Tx) error {
		return fn(ctx, tx, func(ctx context.Context, p CopyParams) error {
			return conn.Raw(func(driver any) error {
				return copyRows(ctx, driver.(*stdlib.Conn).Conn(), p) //nolint:forcetypeassert // Open makes no others
			})
		})
	})
}

func copyRows(ctx context.Context, conn *pgx.Conn, p CopyParams) error {
	quoted := make([]string, len(p.Columns))
	for i, column := range p.Columns {
		quoted[i] = pgx.Identifier{column}.Sanitize()
	}
	statement := fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", pgx.Identifier{p.Table}.Sanitize(), strings.Join(quoted, ", "))
	source := &copySource{params: p}
	source.buffer.WriteString("PGCOPY\n\xff\r\n\x00")
	source.buffer.Write(make([]byte, 8)) // no flags, no extension
	if _, err := conn.PgConn().CopyFrom(ctx, source, statement); err != nil {
		return fmt.Errorf("copying into %s: %w", p.Table, err)
	}
	return nil
}

// copySource is the rows in COPY's binary format, made as they are read.
// Source: postgresql.org/docs/current/sql-copy.html, File Formats.
type copySource struct {
	params CopyParams
	next   int
	ended  bool
	buffer bytes.Buffer
}

// copyPiece is how much is made at once.
const copyPiece = 64 << 10

// Read implements io.Reader.
func (s *copySource) Read(p []byte) (int, error) {
	for s.buffer.Len() < copyPiece && s.next < s.params.Rows {
		if err := s.row(s.params.RowFunc(s.next)); err != nil {
			return 0, err
		}
		s.next++
	}
	if s.next == s.params.Rows && !s.ended {
		s.buffer.Write([]byte{0xff, 0xff})
		s.ended = true
	}
	if s.buffer.Len() == 0 {
		return 0, io.EOF
	}
	return s.buffer.Read(p)
}

func (s *copySource) row(values []any) error {
	if len(values) != len(s.params.Columns) {
		return fmt.Errorf("a row has %d values for %d columns", len(values), len(s.params.Columns))
	}
	out := s.buffer.AvailableBuffer()
	out = binary.BigEndian.AppendUint16(out, uint16(len(values))) //nolint:gosec // a handful of columns
	for _, value := range values {
		switch v := value.(type) {
		case string:
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(v))), v...) //nolint:gosec // Postgres takes 1 GiB
		case []byte:
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(v))), v...) //nolint:gosec // as above
		case int:
			out = binary.BigEndian.AppendUint32(out, 4)
			out = binary.BigEndian.AppendUint32(out, uint32(int32(v))) //nolint:gosec // columns of type integer
		case []float32:
			out = appendVector(out, v)
		default:
			return fmt.Errorf("a row has a value of type %T", value)
		}
	}
	s.buffer.Write(out)
	return nil
}

// appendVector is pgvector's binary form: the dimension, an unused word, the numbers.
func appendVector(out []byte, v []float32) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(4+4*len(v))) //nolint:gosec // at most 16,000 numbers
	out = binary.BigEndian.AppendUint32(out, uint32(len(v))<<16) //nolint:gosec // as above
	for _, x := range v {
		out = binary.BigEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}
