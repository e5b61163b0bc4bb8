package interceptor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
)

// auditInterceptor is the Connect interceptor that writes entries of the audit log.
type auditInterceptor struct {
	*Audit
	// handlers are the services by name, "parlance.v1.AgentService". Their Get methods are asked for
	// the settings before a call.
	handlers map[string]any
}

// Interceptor makes the Connect interceptor. It is the innermost one: inside Once, so that a
// replayed answer has no second entry, and inside the one that resolves the workspace, because it
// calls handlers.
func (a *Audit) Interceptor(handlers map[string]any) connect.Interceptor {
	return &auditInterceptor{Audit: a, handlers: handlers}
}

// WrapUnary implements connect.Interceptor.
func (i *auditInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		method := i.methodOf(ctx, req.Spec().Procedure)
		request, ok := req.Any().(proto.Message)
		if method == nil || !ok {
			return next(ctx, req)
		}
		before, err := i.readBefore(ctx, method, request)
		if err != nil {
			return nil, err
		}
		change, err := i.begin(ctx, method, req.Header(), request, before)
		if err != nil {
			return nil, err
		}
		res, err := next(ctx, req)
		var answer proto.Message
		if err == nil {
			answer, _ = res.Any().(proto.Message)
		}
		if err := change.settle(ctx, answer, err); err != nil {
			return nil, err
		}
		return res, nil
	}
}

// readBefore returns the settings before a call, nil when there are none.
func (i *auditInterceptor) readBefore(ctx context.Context, method *auditedMethod, request proto.Message) (proto.Message, error) {
	if method.before == "" {
		return nil, nil //nolint:nilnil // there are no settings
	}
	found, err := i.call(ctx, method.before, request)
	if err != nil {
		switch decisionOf(err).Kind() {
		case fault.NotFound, fault.Forbidden, fault.Invalid: // the handler refuses the call as well, or deletes once more
			return nil, nil //nolint:nilnil // there are no settings
		default:
			return nil, err
		}
	}
	if method.beforeField == "" {
		return found, nil
	}
	field := found.ProtoReflect().Descriptor().Fields().ByName(method.beforeField)
	return found.ProtoReflect().Get(field).Message().Interface(), nil
}

// call calls a handler with the fields of another request that its own has as well.
func (i *auditInterceptor) call(ctx context.Context, procedure string, from proto.Message) (proto.Message, error) {
	service, name, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
	handler := reflect.ValueOf(i.handlers[service])
	if !handler.IsValid() || !handler.MethodByName(name).IsValid() {
		return nil, fmt.Errorf("the audit log cannot call %s", procedure)
	}
	method := handler.MethodByName(name)
	request, ok := reflect.New(method.Type().In(1).Elem()).Interface().(proto.Message)
	if !ok {
		return nil, fmt.Errorf("the audit log cannot call %s", procedure)
	}
	source := from.ProtoReflect()
	source.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		same := request.ProtoReflect().Descriptor().Fields().ByName(field.Name())
		if same != nil && same.Kind() == protoreflect.StringKind && field.Kind() == protoreflect.StringKind && !field.IsList() {
			request.ProtoReflect().Set(same, value)
		}
		return true
	})
	out := method.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(request)})
	if err, failed := out[1].Interface().(error); failed {
		return nil, err
	}
	answer, ok := out[0].Interface().(proto.Message)
	if !ok {
		return nil, errors.New("the audit log got no message")
	}
	return answer, nil
}

// WrapStreamingClient implements connect.Interceptor; the server never is a client.
func (i *auditInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor. The entry is begun with the first message of
// the caller, which names the resource, and written before the first answer is sent.
func (i *auditInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		method := i.methodOf(ctx, conn.Spec().Procedure)
		if method == nil {
			return next(ctx, conn)
		}
		audited := &auditedConn{StreamingHandlerConn: conn, begin: func(header http.Header, first proto.Message) (*change, error) {
			return i.begin(ctx, method, header, first, nil)
		}, settle: func(c *change, answer proto.Message, err error) error { return c.settle(ctx, answer, err) }}
		err := next(ctx, audited)
		if audited.open == nil {
			return err
		}
		return audited.end(nil, err)
	}
}

// auditedConn is the connection of a call that gets an entry.
type auditedConn struct {
	connect.StreamingHandlerConn
	begin  func(header http.Header, first proto.Message) (*change, error)
	settle func(c *change, answer proto.Message, err error) error
	// begun is set when the entry has been begun, and open holds it until it is written.
	begun bool
	open  *change
}

// Receive implements connect.StreamingHandlerConn.
func (c *auditedConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil || c.begun {
		return err
	}
	first, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", message)
	}
	c.begun = true
	var err error
	c.open, err = c.begin(c.RequestHeader(), proto.Clone(first))
	return err
}

// Send implements connect.StreamingHandlerConn.
func (c *auditedConn) Send(message any) error {
	if c.open != nil {
		answer, _ := message.(proto.Message)
		if err := c.end(answer, nil); err != nil {
			return err
		}
	}
	return c.StreamingHandlerConn.Send(message)
}

// end writes the entry.
func (c *auditedConn) end(answer proto.Message, err error) error {
	open := c.open
	c.open = nil
	return c.settle(open, answer, err)
}
