package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// scope is what is known of one piece of work: a request, a socket, a task, one delivery of many.
// It is filled during the work, so that the log line at the end has everything.
type scope struct {
	mu     sync.Mutex
	fields []slog.Attr
}

type scopeKey struct{}

// OpenScope begins a piece of work: what is noted below it stays within it, and it starts with
// what is known already.
func OpenScope(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{fields: noted(ctx)})
}

// Note puts an id on every later log line of the work that ctx belongs to, and on the span that
// is open. Outside a scope only the span gets it. An empty value notes nothing; a second value
// for a key replaces the first. Keys are those of keys.go; values are ids, never secrets.
func Note(ctx context.Context, key, value string) {
	if value == "" {
		return
	}
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		s.set(slog.String(key, value))
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String(spanKey(key), value))
	}
}

// Noted is what was noted under the key, or empty.
func Noted(ctx context.Context, key string) string {
	for _, field := range noted(ctx) {
		if field.Key == key {
			return field.Value.String()
		}
	}
	return ""
}

func noted(ctx context.Context) []slog.Attr {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.fields)
}

func (s *scope) set(field slog.Attr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.fields {
		if s.fields[i].Key == field.Key {
			s.fields[i] = field
			return
		}
	}
	s.fields = append(s.fields, field)
}

// scoped adds what is noted in a record's context, and its trace, to the record. A key that the
// record or its logger has already is left as it is.
type scoped struct {
	slog.Handler
	// bound are the keys the logger was made with.
	bound []string
}

// Handle implements slog.Handler.
func (h scoped) Handle(ctx context.Context, record slog.Record) error {
	fields := noted(ctx)
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		fields = append(fields, slog.String(KeyTraceID, span.TraceID().String()), slog.String(KeySpanID, span.SpanID().String()))
	}
	if len(fields) == 0 {
		return h.Handler.Handle(ctx, record)
	}
	taken := slices.Clone(h.bound)
	record.Attrs(func(a slog.Attr) bool {
		taken = append(taken, a.Key)
		return true
	})
	fields = slices.DeleteFunc(fields, func(a slog.Attr) bool { return slices.Contains(taken, a.Key) })
	record = record.Clone()
	record.AddAttrs(fields...)
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h scoped) WithAttrs(attrs []slog.Attr) slog.Handler {
	bound := slices.Clone(h.bound)
	for _, a := range attrs {
		bound = append(bound, a.Key)
	}
	return scoped{Handler: h.Handler.WithAttrs(attrs), bound: bound}
}

// WithGroup implements slog.Handler.
func (h scoped) WithGroup(name string) slog.Handler {
	return scoped{Handler: h.Handler.WithGroup(name), bound: h.bound}
}
