package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// canonical writes a value as JSON in the one form that is hashed: members in the order of the code
// points of their names, no white space, UTF-8, and only those escapes that JSON requires. It is
// what Python's json.dumps writes with sort_keys, separators (",", ":") and ensure_ascii=False.
func canonical(value any) ([]byte, error) {
	var out bytes.Buffer
	err := writeValue(&out, value)
	return out.Bytes(), err
}

func writeValue(out *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case int64:
		out.WriteString(strconv.FormatInt(v, 10))
	case json.Number:
		out.WriteString(v.String())
	case string:
		writeString(out, v)
	case []any:
		return writeList(out, v)
	case map[string]any:
		return writeObject(out, v)
	default:
		return fmt.Errorf("the audit log has no form for %T", value)
	}
	return nil
}

func writeList(out *bytes.Buffer, list []any) error {
	out.WriteByte('[')
	for i, value := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, value); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeObject(out *bytes.Buffer, object map[string]any) error {
	out.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, name)
		out.WriteByte(':')
		if err := writeValue(out, object[name]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// escapes are the control characters that JSON has a short escape for.
var escapes = map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func writeString(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for i := range len(text) {
		char := text[i]
		switch escape, short := escapes[char]; {
		case short:
			out.WriteString(escape)
		case char < ' ':
			fmt.Fprintf(out, `\u%04x`, char)
		default:
			out.WriteByte(char)
		}
	}
	out.WriteByte('"')
}

// decode reads JSON and keeps the digits of its numbers. Empty text is null.
func decode(text []byte) (value any, err error) {
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // null is a value
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON value")
	}
	return value, nil
}
