package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// smallJSONBytes is the largest object that is one line or row.
	smallJSONBytes = 600
	// maxJSONDepth is how deep values may stand in each other.
	maxJSONDepth = 100
	// longStringBytes is from where a string is a paragraph of its own.
	longStringBytes = 400
	// flushBytes is how much of a list or table is kept before it becomes a block.
	flushBytes = 32 << 10
)

// parseJSON keeps the structure as paths: what is larger than a line stands under a heading of
// its key, a leaf or small object is a line "key: value", an array of small objects a table with
// "key: value" cells. Several values one after the other (NDJSON) are read as an array, without the
// lines that are no values. The file is read as a stream: no tree of it is ever made, and numbers
// stay as they are written.
func parseJSON(data []byte, charset string, limits Limits) (Document, error) {
	text, err := decodeText(data, charset)
	if err != nil {
		return Document{}, err
	}
	if strings.TrimSpace(text) == "" {
		return Document{}, errEmpty()
	}
	doc, err := documentOfJSON([]byte(text), limits)
	if err == nil {
		return doc, nil
	}
	if kept, warnings := withoutBadLines(text); kept != nil {
		doc, err = documentOfJSON(kept, limits)
		doc.Warnings = warnings
	}
	return doc, err
}

func documentOfJSON(data []byte, limits Limits) (Document, error) {
	w := jsonWalker{b: builder{limit: limits.MaxTextBytes}, data: data}
	w.decoder = json.NewDecoder(bytes.NewReader(w.data))
	w.decoder.UseNumber()
	if err := w.file(); err != nil {
		return Document{}, w.fault(err)
	}
	return w.b.finish()
}

// jsonWalker turns a stream of values into blocks.
type jsonWalker struct {
	b       builder
	data    []byte
	decoder *json.Decoder
	// kind and lines are the block being collected.
	kind  BlockKind
	lines strings.Builder
}

// file reads one value, or several.
func (w *jsonWalker) file() error {
	one := w.isContainer() && !w.isSequence()
	for i := 0; ; i++ {
		if _, err := w.peek(); errors.Is(err, io.EOF) {
			w.flush()
			return nil
		}
		var err error
		switch {
		case i == 0 && one:
			err = w.container(1)
		default:
			err = w.item(1, "", i)
		}
		if err != nil {
			return err
		}
	}
}

// isSequence reports whether the first line is a value and more lines follow.
func (w *jsonWalker) isSequence() bool {
	line, rest, _ := bytes.Cut(bytes.TrimSpace(w.data), []byte("\n"))
	return len(rest) > 0 && json.Valid(line)
}

// fault says where a file is not JSON.
func (w *jsonWalker) fault(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	offset := w.decoder.InputOffset()
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok && wrong.Offset > offset {
		offset = wrong.Offset
	}
	before := w.data[:min(max(int(offset), 0), len(w.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCorrupt(err, "The file is cut off: the JSON ends too early, in line %d.", line)
	}
	return errCorrupt(err, "The file is not valid JSON: line %d cannot be read.", line)
}

// container adds an object or array that is larger than a line. depth is also the level of the
// headings in it.
func (w *jsonWalker) container(depth int) error {
	if depth > maxJSONDepth {
		return &Error{Kind: TooComplex, Message: fmt.Sprintf("The JSON nests more than %d values.", maxJSONDepth)}
	}
	open, err := w.decoder.Token()
	if err != nil {
		return err
	}
	w.flush()
	for i := 0; w.decoder.More() && !w.b.full; i++ {
		name := ""
		if open == json.Delim('{') {
			key, err := w.decoder.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string) // keys are strings
			name = jsonName(name)
		}
		if err := w.item(depth, name, i); err != nil {
			return err
		}
	}
	if w.b.full {
		_, err := w.b.finish()
		return err
	}
	if _, err := w.decoder.Token(); err != nil {
		return err
	}
	w.flush()
	w.b.leave(depth)
	return nil
}

// item adds the next value: the name's in an object, the index's in an array.
func (w *jsonWalker) item(depth int, name string, index int) error {
	if w.isContainer() && !w.fits() {
		w.flush()
		w.b.leave(depth)
		if name == "" {
			name = fmt.Sprintf("[%d]", index)
		}
		w.b.heading(depth, name)
		if err := w.container(depth + 1); err != nil {
			return err
		}
		w.b.leave(depth)
		return nil
	}
	var raw json.RawMessage
	if err := w.decoder.Decode(&raw); err != nil {
		return err
	}
	if name == "" && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		row, err := jsonLine(raw, " | ")
		w.line(Table, row)
		return err
	}
	value, err := jsonLine(raw, ", ")
	if err != nil {
		return err
	}
	if name != "" {
		value = strings.TrimSpace(name + ": " + value)
	}
	if len(value) > longStringBytes {
		w.flush()
		w.b.add(Paragraph, value)
		return nil
	}
	w.line(List, strings.ReplaceAll(value, "\n", " "))
	return nil
}

// line collects lines of one kind to a block.
func (w *jsonWalker) line(kind BlockKind, text string) {
	if kind != w.kind || w.lines.Len() > flushBytes {
		w.flush()
	}
	w.kind = kind
	writeLine(&w.lines, text)
}

func (w *jsonWalker) flush() {
	w.b.add(w.kind, w.lines.String())
	w.lines.Reset()
}

// peek is the first byte of the next value and where it stands. Errors: io.EOF.
func (w *jsonWalker) peek() (int, error) {
	at := int(w.decoder.InputOffset())
	for at < len(w.data) && strings.IndexByte(" \t\r\n,:", w.data[at]) >= 0 {
		at++
	}
	if at == len(w.data) {
		return at, io.EOF
	}
	return at, nil
}

func (w *jsonWalker) isContainer() bool {
	at, err := w.peek()
	return err == nil && (w.data[at] == '{' || w.data[at] == '[')
}

// fits reports whether the next value, an object or array, ends within some bytes and is all
// that a line can show: nothing in it holds objects three deep.
func (w *jsonWalker) fits() bool {
	at, err := w.peek()
	if err != nil {
		return false
	}
	depth, quoted := 0, false
	for i := at; i < min(len(w.data), at+smallJSONBytes); i++ {
		switch c := w.data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > 3 {
				return false
			}
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}
