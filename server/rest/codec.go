package rest

import (
	"encoding/json"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/stablejson"
)

// ConnectCodecs makes Connect, gRPC and gRPC-Web write the same JSON as REST, and the fields that
// REST leaves out (the option rpc_only). They read it leniently, unknown fields included, as
// clients of those protocols expect. A message that cannot be read is passed on in a form that
// Undecoded recognises, because connect would answer it without a reason of ours.
func ConnectCodecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
		connect.WithCodec(protoCodec{}),
	)
}

// undecodedField is the number of the unknown field in which an unreadable message carries its
// error. It is the largest number, which no contract uses. A caller that sends it is refused with
// what it sent.
const undecodedField = protowire.MaxValidNumber

// Undecoded returns the error of a message that a codec of this package could not read, else nil.
// Errors: Invalid invalid-request.
func Undecoded(message proto.Message) error {
	unknown := message.ProtoReflect().GetUnknown()
	number, kind, n := protowire.ConsumeTag(unknown)
	if n < 0 || number != undecodedField || kind != protowire.BytesType {
		return nil
	}
	content, _ := protowire.ConsumeBytes(unknown[n:])
	refusal := fault.New(fault.InvalidRequest, "The message cannot be read.")
	if err := json.Unmarshal(content, refusal); err != nil || refusal.Reason != fault.InvalidRequest {
		return fault.New(fault.InvalidRequest, "The message cannot be read.")
	}
	return refusal
}

// spoil clears a message and stores in it why it could not be read.
func spoil(message proto.Message, refusal *fault.Error) error {
	content, err := json.Marshal(refusal)
	if err != nil {
		return fmt.Errorf("encoding a refusal: %w", err)
	}
	proto.Reset(message)
	tagged := protowire.AppendTag(nil, undecodedField, protowire.BytesType)
	message.ProtoReflect().SetUnknown(protowire.AppendBytes(tagged, content))
	return nil
}

// jsonCodec is connect's own JSON codec with our options. Its value is its name.
type jsonCodec struct{ name string }

// Name is the part of the content type after "application/".
func (c jsonCodec) Name() string { return c.name }

// IsBinary returns false: the output is text and may be in a query string.
func (jsonCodec) IsBinary() bool { return false }

// Marshal writes a proto.Message as JSON.
func (jsonCodec) Marshal(message any) ([]byte, error) {
	typed, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return stablejson.MarshalRPC(typed)
}

// MarshalStable is Marshal, whose output is stable.
func (c jsonCodec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

// Unmarshal reads JSON into a proto.Message and ignores unknown fields.
func (jsonCodec) Unmarshal(data []byte, message any) error {
	typed, err := protoMessage(message)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return spoil(typed, fault.New(fault.InvalidRequest, "An empty body is not JSON; send {}."))
	}
	if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, typed) == nil {
		return nil
	}
	return spoil(typed, unreadable(data, typed))
}

// unreadable returns what REST would answer to JSON that protojson has refused.
func unreadable(data []byte, message proto.Message) *fault.Error {
	_, err := checkLenient(data, message.ProtoReflect().Descriptor())
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return decided
	}
	return fault.New(fault.InvalidRequest, "The body does not fit the request.")
}

// protoCodec is connect's own binary codec.
type protoCodec struct{}

// Name is the part of the content type after "application/".
func (protoCodec) Name() string { return "proto" }

// IsBinary returns true: the output is not text.
func (protoCodec) IsBinary() bool { return true }

// Marshal writes a proto.Message.
func (c protoCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend is Marshal to the end of a buffer. With it connect uses one buffer for all messages
// of a stream; without it a download takes as much memory as its file is large.
func (protoCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	typed, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(to, typed)
}

// MarshalStable is Marshal with maps in order.
func (protoCodec) MarshalStable(message any) ([]byte, error) {
	typed, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(typed)
}

// Unmarshal reads a proto.Message.
func (protoCodec) Unmarshal(data []byte, message any) error {
	typed, err := protoMessage(message)
	if err != nil {
		return err
	}
	if proto.Unmarshal(data, typed) == nil {
		return nil
	}
	return spoil(typed, fault.New(fault.InvalidRequest, "The message is no %s.", typed.ProtoReflect().Descriptor().FullName()))
}

func protoMessage(message any) (proto.Message, error) {
	typed, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a proto.Message", message)
	}
	return typed, nil
}
