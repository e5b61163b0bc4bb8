package interceptor

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/idgen"
)

// answerOf returns the answer to keep for one message.
func answerOf(message any) (idempotency.Answer, error) {
	typed, ok := message.(proto.Message)
	if !ok {
		return idempotency.Answer{}, fmt.Errorf("%T is not a proto.Message", message)
	}
	encoded, err := proto.Marshal(typed)
	if err != nil {
		return idempotency.Answer{}, fmt.Errorf("encode an answer to keep: %w", err)
	}
	answer := idempotency.Answer{Messages: [][]byte{encoded}}
	if id := textField(typed, "id"); idgen.Valid(idgen.Session, id) {
		answer.SessionID = id
	}
	return answer, nil
}

// storedResponse is a response with a message whose type is known at run time only.
type storedResponse struct {
	connect.AnyResponse
	message proto.Message
}

// Any returns the message.
func (r storedResponse) Any() any { return r.message }

// replayUnary answers with a stored answer.
func replayUnary(ctx context.Context, spec connect.Spec, answer *idempotency.Answer) (connect.AnyResponse, error) {
	if info, ok := connect.CallInfoForHandlerContext(ctx); ok {
		info.ResponseHeader().Set(ReplayedHeader, "true") // an error has no response of its own
	}
	if answer.Refusal != nil {
		return nil, answer.Refusal
	}
	message, err := newMessage(spec, protoreflect.MethodDescriptor.Output)
	if err != nil {
		return nil, err
	}
	if len(answer.Messages) != 1 || proto.Unmarshal(answer.Messages[0], message) != nil {
		return nil, fmt.Errorf("the stored answer of %s cannot be read", spec.Procedure)
	}
	return storedResponse{AnyResponse: connect.NewResponse(&emptypb.Empty{}), message: message}, nil
}

// newMessage returns an empty request or answer of a procedure.
func newMessage(
	spec connect.Spec, side func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor,
) (proto.Message, error) {
	method, ok := spec.Schema.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s has no descriptor", spec.Procedure)
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(side(method).FullName())
	if err != nil {
		return nil, fmt.Errorf("find the message of %s: %w", spec.Procedure, err)
	}
	return kind.New().Interface(), nil
}
