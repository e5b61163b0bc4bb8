package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshaller writes snake_case names and every field: one without a value is its default, or null
// when it is a message (a time, an error). Only what the contract calls optional is left out.
var marshaller = protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}

// JSON is the JSON of a message, the same bytes each time: protojson puts in spaces at random so
// that nobody relies on its output, and a replayed answer must be equal to the first.
// Error: a string of the message is not UTF-8.
func JSON(message proto.Message) ([]byte, error) {
	loose, err := marshaller.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	return compact(loose), nil
}

// compact takes the white space out of a well-formed JSON text, in its place. json.Compact checks
// the text once more, which costs as much as protojson took to write it.
func compact(text []byte) []byte {
	out, quoted := text[:0], false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			out = append(out, c)
			i++ // what is escaped is no end of the string
			c = text[i]
		case !quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		out = append(out, c)
	}
	return out
}
