// Package otlp is a small OTLP/HTTP collector of traces, for tests:
//
//	collector := otlp.New(t)
//	… PARLANCE_OTLP_ENDPOINT: collector.URL …
//	collector.Await(t, patience, "the turn's model call",
//		func(s otlp.Span) bool { return s.Name == "chat m" })
//	collector.Trace(span.TraceID)
//
// It listens on loopback, keeps every span and every byte that came, and can refuse exports as
// a collector in trouble would.
package otlp
