package interceptor

import (
	"context"
	"fmt"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/route"
)

// WrapStreamingHandler implements connect.Interceptor. A caller that hangs up does not end the
// work, and gets the whole stream when it repeats the request: what was stored, or what the first
// request makes as it makes it.
func (o *Once) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		spec, header := conn.Spec(), conn.RequestHeader()
		if len(header.Values(idempotency.Header)) == 0 || !o.policies[spec.Procedure].Changes() {
			return next(ctx, conn)
		}
		if spec.StreamType != connect.StreamTypeServer {
			return fault.InvalidField(idempotency.Header, "unsupported",
				"A request in several messages takes no Idempotency-Key. Upload over REST with the key, or without one.")
		}
		request, err := newMessage(spec, protoreflect.MethodDescriptor.Input)
		if err != nil {
			return err
		}
		if err := conn.Receive(request); err != nil {
			return err
		}
		read := &readConn{StreamingHandlerConn: conn, request: request}
		if route.Resumes(request) {
			return next(ctx, read) // changes nothing
		}
		about, err := o.requestOf(header, spec.Procedure, request)
		if err != nil {
			return err
		}
		claim, err := o.claim(ctx, header.Values(idempotency.Header), about)
		if err != nil {
			return err
		}
		switch {
		case claim.Running:
			return follow(ctx, claim, next, read)
		case claim.Answer != nil:
			return replayStream(conn, claim.Answer)
		}
		kept := &keptConn{readConn: read}
		return o.work(ctx, claim, idempotency.Keeps, func(ctx context.Context) (idempotency.Answer, error) {
			err := next(ctx, kept)
			return idempotency.Answer{Messages: kept.messages}, err
		})
	}
}

// follow has the handler follow what the first request makes, which may not have made it yet.
func follow(ctx context.Context, claim *idempotency.Claim, next connect.StreamingHandlerFunc, read *readConn) error {
	if !route.CanResume(read.request) {
		return idempotency.InFlight()
	}
	read.ResponseHeader().Set(ReplayedHeader, "true")
	err := next(idempotency.WithRunning(idgen.WithSeed(ctx, claim.Seed())), read)
	if fault.ReasonOf(err) == fault.ResourceNotFound {
		return idempotency.InFlight()
	}
	return err
}

// replayStream sends the messages of a stored answer, and its error.
func replayStream(conn connect.StreamingHandlerConn, answer *idempotency.Answer) error {
	conn.ResponseHeader().Set(ReplayedHeader, "true")
	for _, encoded := range answer.Messages {
		message, err := newMessage(conn.Spec(), protoreflect.MethodDescriptor.Output)
		if err != nil {
			return err
		}
		if err := proto.Unmarshal(encoded, message); err != nil {
			return fmt.Errorf("read a stored answer: %w", err)
		}
		if err := conn.Send(message); err != nil {
			return err
		}
	}
	if answer.Refusal != nil {
		return answer.Refusal
	}
	return nil
}

// readConn is a connection whose only request has been read.
type readConn struct {
	connect.StreamingHandlerConn
	request proto.Message
	given   bool
}

// Receive copies the request.
func (c *readConn) Receive(message any) error {
	into, ok := message.(proto.Message)
	if !ok || c.given {
		return io.EOF
	}
	c.given = true
	proto.Reset(into)
	proto.Merge(into, c.request)
	return nil
}

// keptConn keeps what is sent. Sending never fails: the work continues without its caller.
type keptConn struct {
	*readConn
	messages [][]byte
	// gone is set when the caller no longer reads.
	gone bool
}

// Send sends a message and keeps a copy.
func (c *keptConn) Send(message any) error {
	answer, err := answerOf(message)
	if err != nil {
		return err
	}
	c.messages = append(c.messages, answer.Messages...)
	if !c.gone {
		c.gone = c.readConn.Send(message) != nil
	}
	return nil
}
