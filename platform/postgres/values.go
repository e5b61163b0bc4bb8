package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// values are those of a statement's parameters in Postgres's text form. Their bytes lie in one place, which is used again.
type values struct {
	bytes []byte
	ends  []int // where each value ends; of none, -1
	split [][]byte
}

var valuesPool = sync.Pool{New: func() any { return new(values) }}

// maxPooledBytes is the largest place that is kept.
const maxPooledBytes = 256 << 10

func newValues() *values {
	v := valuesPool.Get().(*values) //nolint:errcheck,forcetypeassert // the pool's own
	v.bytes, v.ends = v.bytes[:0], v.ends[:0]
	return v
}

// free gives the place back, when nothing looks at the values any more.
func (v *values) free() {
	clear(v.split)
	if cap(v.bytes) <= maxPooledBytes {
		valuesPool.Put(v)
	}
}

// of are the values of arguments; they are good until the next call. Errors: a type that [Step] does not name.
func (v *values) of(args []any) ([][]byte, error) {
	v.bytes, v.ends, v.split = v.bytes[:0], v.ends[:0], v.split[:0]
	for i, arg := range args {
		if arg == nil {
			v.ends = append(v.ends, -1)
			continue
		}
		if err := v.add(arg); err != nil {
			return nil, fmt.Errorf("$%d: %w", i+1, err)
		}
		v.ends = append(v.ends, len(v.bytes))
	}
	begin := 0
	for _, end := range v.ends {
		if end < 0 {
			v.split = append(v.split, nil)
			continue
		}
		v.split = append(v.split, v.bytes[begin:end:end])
		begin = end
	}
	return v.split, nil
}

// timeForm is a timestamptz to the microsecond, as far as it keeps it.
const timeForm = "2006-01-02 15:04:05.999999Z07:00"

func (v *values) add(arg any) error {
	switch arg := arg.(type) {
	case string:
		v.bytes = append(v.bytes, arg...)
	case []byte:
		v.bytes = append(v.bytes, arg...)
	case int:
		v.bytes = strconv.AppendInt(v.bytes, int64(arg), 10)
	case int64:
		v.bytes = strconv.AppendInt(v.bytes, arg, 10)
	case bool:
		v.bytes = strconv.AppendBool(v.bytes, arg)
	case time.Time:
		v.addTime(arg)
	case []string:
		addAll(v, arg, v.addQuoted)
	case []int64:
		addAll(v, arg, func(n int64) { v.bytes = strconv.AppendInt(v.bytes, n, 10) })
	case []time.Time:
		addAll(v, arg, func(t time.Time) {
			v.bytes = append(v.bytes, '"')
			v.addTime(t)
			v.bytes = append(v.bytes, '"')
		})
	default:
		return fmt.Errorf("a value of type %T has no text form here", arg)
	}
	return nil
}

// addAll adds an array; what add writes of an element has no comma, brace or space but in quotes.
func addAll[T any](v *values, elements []T, add func(T)) {
	v.bytes = append(v.bytes, '{')
	for i, one := range elements {
		if i > 0 {
			v.bytes = append(v.bytes, ',')
		}
		add(one)
	}
	v.bytes = append(v.bytes, '}')
}

func (v *values) addTime(t time.Time) {
	v.bytes = t.UTC().Truncate(time.Microsecond).AppendFormat(v.bytes, timeForm)
}

// quoted escapes what ends a quoted element of an array.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (v *values) addQuoted(text string) {
	v.bytes = append(v.bytes, '"')
	v.bytes = append(v.bytes, quoted.Replace(text)...)
	v.bytes = append(v.bytes, '"')
}
