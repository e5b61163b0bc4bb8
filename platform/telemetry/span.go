package telemetry

import (
	"context"
	"errors"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"parlance.dev/parlance/fault"
)

// library names what makes our spans.
const library = "parlance.dev/parlance"

// Kind is what a span is to the other side.
type Kind = trace.SpanKind

// The kinds of spans.
const (
	Internal = trace.SpanKindInternal
	ServerIn = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Producer = trace.SpanKindProducer
	Consumer = trace.SpanKindConsumer
)

// Attr is an attribute of a span: an id, a name, a number; never a text that a person wrote.
type Attr = attribute.KeyValue

// Text is an attribute that is a string.
func Text(key, value string) Attr { return attribute.String(key, value) }

// Number is an attribute that is a whole number.
func Number(key string, value int) Attr { return attribute.Int(key, value) }

// Texts is an attribute that is a list of strings.
func Texts(key string, values ...string) Attr { return attribute.StringSlice(key, values) }

type tracerKey struct{}

// WithTracer makes Start record below ctx. Whoever begins work (a server, a worker, a node) puts
// it there once, so that nouns and adapters need no tracer of their own. nil changes nothing.
func WithTracer(ctx context.Context, provider trace.TracerProvider) context.Context {
	if traces, ok := provider.(*Traces); provider == nil || ok && traces.off {
		return ctx // what is not exported need not be made
	}
	return context.WithValue(ctx, tracerKey{}, provider.Tracer(library))
}

// Span is an open span of a trace.
type Span struct{ span trace.Span }

// Start begins a span below that of ctx, or a new trace where there is none, with what is noted
// in ctx. Below a context without a tracer it does nothing. End must be called.
func Start(ctx context.Context, kind Kind, name string, attrs ...Attr) (context.Context, *Span) {
	return StartLinked(ctx, kind, name, nil, attrs...)
}

// StartLinked is Start with links to spans of other traces that led here.
func StartLinked(ctx context.Context, kind Kind, name string, origins []Origin, attrs ...Attr) (context.Context, *Span) {
	tracer, ok := ctx.Value(tracerKey{}).(trace.Tracer)
	if !ok {
		return ctx, &Span{span: trace.SpanFromContext(context.Background())}
	}
	for _, field := range noted(ctx) {
		attrs = append(attrs, attribute.String(spanKey(field.Key), field.Value.String()))
	}
	var links []trace.Link
	for _, origin := range origins {
		if from := origin.spanContext(); from.IsValid() {
			links = append(links, trace.Link{SpanContext: from})
		}
	}
	ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...), trace.WithLinks(links...))
	return ctx, &Span{span: span}
}

// Set adds attributes.
func (s *Span) Set(attrs ...Attr) { s.span.SetAttributes(attrs...) }

// Rename gives the span its name when that is known only later.
func (s *Span) Rename(name string) { s.span.SetName(name) }

// Fail marks the span as failed. kind is the attribute error.type: a short code, never the text of
// an error, which may contain data of tenants.
func (s *Span) Fail(kind string) {
	s.span.SetAttributes(attribute.String("error.type", kind))
	s.span.SetStatus(codes.Error, kind)
}

// End ends the span; an error marks it as failed with the reason of its fault.
func (s *Span) End(err error) {
	if err != nil {
		s.Fail(ErrorType(err))
	}
	s.span.End()
}

// ErrorType is a short code for an error: the reason of its fault, or internal.
func ErrorType(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return string(fault.CallerCanceled)
	case errors.Is(err, context.DeadlineExceeded):
		return string(fault.DeadlineExceeded)
	}
	return string(fault.From(err).Reason)
}

// spanKey is the name of one of our log keys as an attribute of a span.
func spanKey(key string) string { return "parlance." + key }

// Origin is what caused work that happens elsewhere or later. It goes along with the work: in a
// row, in a task's headers.
type Origin struct {
	// Traceparent is W3C's header; empty: not traced.
	Traceparent string
	// RequestID is the caller's X-Request-Id; empty: no request caused it.
	RequestID string
}

// OriginOf is ctx as the cause of something.
func OriginOf(ctx context.Context) Origin {
	carrier := propagation.MapCarrier{}
	Propagator().Inject(ctx, carrier)
	return Origin{Traceparent: carrier["traceparent"], RequestID: Noted(ctx, KeyRequestID)}
}

// Context returns a context with a new scope in which spans are children of the origin and log
// lines have its request id.
func (o Origin) Context(ctx context.Context) context.Context {
	ctx = OpenScope(ctx)
	if from := o.spanContext(); from.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, from)
	}
	Note(ctx, KeyRequestID, o.RequestID)
	return ctx
}

// Rejoin returns a context in the origin's trace, for work that was found in another way, such as a
// retry that a sweep began. A span of ctx that belongs to that trace stays the parent. The request
// id is noted unless there is one.
func (o Origin) Rejoin(ctx context.Context) context.Context {
	if Noted(ctx, KeyRequestID) == "" {
		Note(ctx, KeyRequestID, o.RequestID)
	}
	from := o.spanContext()
	if !from.IsValid() || from.TraceID() == trace.SpanContextFromContext(ctx).TraceID() {
		return ctx
	}
	return trace.ContextWithSpanContext(ctx, from)
}

// Linked begins a trace of its own for something that the origin led to, long after or many
// times over: it points to the origin and is no part of its trace.
func (o Origin) Linked(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	ctx = trace.ContextWithSpanContext(OpenScope(ctx), trace.SpanContext{})
	Note(ctx, KeyRequestID, o.RequestID)
	return StartLinked(ctx, Internal, name, []Origin{o}, attrs...)
}

// spanContext counts as our own: the sampler's choice was made where the trace began.
func (o Origin) spanContext() trace.SpanContext {
	ctx := Propagator().Extract(context.Background(), propagation.MapCarrier{"traceparent": o.Traceparent})
	return trace.SpanContextFromContext(ctx).WithRemote(false)
}

// Receive returns a context in the trace of a request's caller, with the ids of that trace. Whether
// it is recorded depends on TraceConfig.SampleRatio.
func Receive(ctx context.Context, header http.Header) context.Context {
	return Propagator().Extract(ctx, propagation.HeaderCarrier(header))
}

// Propagate writes the trace of ctx into a request to an outside party: traceparent and nothing
// else. A header that is there already, which its owner set, stays.
func Propagate(ctx context.Context, header http.Header) {
	origin := OriginOf(ctx)
	if origin.Traceparent != "" && header.Get("Traceparent") == "" {
		header.Set("Traceparent", origin.Traceparent)
	}
}
