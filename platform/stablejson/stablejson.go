package stablejson

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshaller writes snake_case names and every field: one without a value is its default, or null
// when it is a message (a time, an error). Only what the contract calls optional is left out.
var marshaller = protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}

// Marshal returns the JSON of a message, the same bytes each time: protojson puts in spaces at
// random so that nobody relies on its output, and a replayed answer must be equal to the first. A
// Struct with an exact field beside it (the option exact_json_of) is written from that field, so
// that integers above 2^53 keep their digits. Fields for callers of RPC only (the option rpc_only)
// are left out.
// Errors: a string of the message is not UTF-8.
func Marshal(message proto.Message) ([]byte, error) {
	return MarshalRPC(withoutRPCOnly(message))
}

// MarshalRPC is Marshal for callers of RPC: it writes the fields that only they get, too.
func MarshalRPC(message proto.Message) ([]byte, error) {
	spaced, err := marshaller.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	var compact bytes.Buffer
	compact.Grow(len(spaced))
	if err := json.Compact(&compact, spaced); err != nil {
		return nil, fmt.Errorf("removing the spaces of %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	return withExact(message.ProtoReflect(), compact.Bytes())
}
