package rest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshaller writes snake_case names and every field that has a value or a default; messages
// and optional fields that are not set are left out rather than written as null.
var marshaller = protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}

// marshal is the JSON of a message, the same bytes each time: protojson puts in spaces at random
// so that nobody relies on its output, and a replayed answer must be equal to the first.
func marshal(message proto.Message) ([]byte, error) {
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

// ConnectCodecs makes Connect, gRPC and gRPC-Web write the same JSON as REST. They read it
// leniently, unknown fields and all, as clients of those protocols expect.
func ConnectCodecs() connect.Option {
	return connect.WithOptions(
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
	)
}

// jsonCodec is connect's own JSON codec with our options. Its value is its name.
type jsonCodec struct{ name string }

// Name is the part of the content type after "application/".
func (c jsonCodec) Name() string { return c.name }

// IsBinary says that the output is text, so that it may stand in a query string.
func (jsonCodec) IsBinary() bool { return false }

// Marshal writes a proto.Message as JSON.
func (jsonCodec) Marshal(message any) ([]byte, error) {
	typed, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a proto.Message", message)
	}
	return marshal(typed)
}

// MarshalStable is Marshal, whose output is stable.
func (c jsonCodec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

// Unmarshal reads JSON into a proto.Message and ignores unknown fields.
func (jsonCodec) Unmarshal(data []byte, message any) error {
	typed, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a proto.Message", message)
	}
	if len(data) == 0 {
		return fmt.Errorf("an empty body is not JSON")
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, typed)
}
