package postgres

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// scanRow is the scan of a [Step]. pgx plans anew for each answer how its columns are read, which takes longer than
// reading a row: what every turn asks for is read without. pgx reads the whole row when any column is another.
func scanRow(rows pgx.Rows, into []any) error {
	if !quickRow(rows.FieldDescriptions(), rows.RawValues(), into) {
		return rows.Scan(into...)
	}
	return nil
}

func quickRow(fields []pgconn.FieldDescription, values [][]byte, into []any) bool {
	if len(fields) != len(values) || len(fields) != len(into) {
		return false
	}
	for i, value := range values {
		if !quickValue(&fields[i], value, into[i]) {
			return false
		}
	}
	return true
}

// quickValue reads a value of a plain type into a plain place; false: it is another, or NULL where it cannot be.
func quickValue(field *pgconn.FieldDescription, value []byte, into any) bool {
	if into, is := into.(*[]byte); is {
		plain := field.DataTypeOID == pgtype.JSONOID || field.DataTypeOID == pgtype.JSONBOID && field.Format == pgx.TextFormatCode
		if plain {
			*into = bytes.Clone(value)
		}
		return plain
	}
	if into, is := into.(*string); is {
		plain := value != nil && (field.DataTypeOID == pgtype.TextOID || field.DataTypeOID == pgtype.VarcharOID)
		if plain {
			*into = string(value)
		}
		return plain
	}
	return value != nil && field.Format == pgx.BinaryFormatCode && quickBinary(field.DataTypeOID, value, into)
}

// quickBinary is quickValue for values in the server's binary form.
func quickBinary(oid uint32, value []byte, into any) bool {
	switch into := into.(type) {
	case *int:
		n, is := wholeNumber(oid, value)
		*into = int(n)
		return is
	case *int64:
		n, is := wholeNumber(oid, value)
		*into = n
		return is
	case *bool:
		is := oid == pgtype.BoolOID && len(value) == 1
		*into = is && value[0] == 1
		return is
	case *time.Time:
		n, is := int64(0), oid == pgtype.TimestamptzOID && len(value) == 8
		if is {
			n = int64(binary.BigEndian.Uint64(value)) //nolint:gosec // as the server means it
		}
		if !is || n == math.MaxInt64 || n == math.MinInt64 { // these are infinite
			return false
		}
		*into = time.UnixMicro(microsTo2000 + n)
		return true
	}
	return false
}

// microsTo2000 is from 1970 until Postgres begins to count.
const microsTo2000 = 946_684_800 * 1_000_000

func wholeNumber(oid uint32, value []byte) (int64, bool) {
	switch {
	case oid == pgtype.Int4OID && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true //nolint:gosec // as the server means it
	case oid == pgtype.Int8OID && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true //nolint:gosec // as above
	}
	return 0, false
}
