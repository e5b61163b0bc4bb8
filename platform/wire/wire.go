package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshaller writes snake_case names and every field that has a value or a default; messages
// and optional fields that are not set are left out rather than written as null.
var marshaller = protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}

// JSON is the JSON of a message, the same bytes each time: protojson puts in spaces at random so
// that nobody relies on its output, and a replayed answer must be equal to the first.
// Error: a string of the message is not UTF-8.
func JSON(message proto.Message) ([]byte, error) {
	loose, err := marshaller.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	var compact bytes.Buffer
	compact.Grow(len(loose))
	if err := json.Compact(&compact, loose); err != nil {
		return nil, fmt.Errorf("compacting %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	return compact.Bytes(), nil
}
