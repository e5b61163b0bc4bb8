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

// ConnectCodecs makes Connect, gRPC and gRPC-Web write the same JSON as REST. They read it
// leniently, unknown fields included, as clients of those protocols expect. A message that cannot
// be read is passed on in a form that Undecoded recognises, because connect would answer it
// without a reason of ours.
func ConnectCodecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(codec{name: "json", write: stablejson.Marshal, read: readJSON}),
		connect.WithCodec(codec{name: "json; charset=utf-8", write: stablejson.Marshal, read: readJSON}),
		connect.WithCodec(codec{name: "proto", binary: true, write: proto.MarshalOptions{Deterministic: true}.Marshal, read: readProto}),
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

// codec is one of connect's own codecs with our options and errors.
type codec struct {
	// name is the part of the content type after "application/".
	name string
	// binary is false for text, which may be in a query string.
	binary bool
	// write has stable output, which connect wants for a query string.
	write func(proto.Message) ([]byte, error)
	// read returns why the message cannot be read.
	read func(data []byte, into proto.Message) *fault.Error
}

// Name implements connect.Codec.
func (c codec) Name() string { return c.name }

// IsBinary tells connect whether messages can be in a query string.
func (c codec) IsBinary() bool { return c.binary }

// Marshal writes a proto.Message.
func (c codec) Marshal(message any) ([]byte, error) {
	typed, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return c.write(typed)
}

// MarshalStable is Marshal, whose output is stable.
func (c codec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

// Unmarshal reads a proto.Message.
func (c codec) Unmarshal(data []byte, message any) error {
	typed, err := protoMessage(message)
	if err != nil {
		return err
	}
	if refusal := c.read(data, typed); refusal != nil {
		return spoil(typed, refusal)
	}
	return nil
}

func protoMessage(message any) (proto.Message, error) {
	typed, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a proto.Message", message)
	}
	return typed, nil
}

// readJSON ignores unknown fields. Its errors are what REST would answer.
func readJSON(data []byte, into proto.Message) *fault.Error {
	if len(data) == 0 {
		return fault.New(fault.InvalidRequest, "An empty body is not JSON; send {}.")
	}
	if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, into) == nil {
		return nil
	}
	_, err := checkLenient(data, into.ProtoReflect().Descriptor())
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return decided
	}
	return fault.New(fault.InvalidRequest, "The body does not fit the request.")
}

func readProto(data []byte, into proto.Message) *fault.Error {
	if proto.Unmarshal(data, into) == nil {
		return nil
	}
	return fault.New(fault.InvalidRequest, "The message is no %s.", into.ProtoReflect().Descriptor().FullName())
}
