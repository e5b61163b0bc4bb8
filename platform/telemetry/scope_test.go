package telemetry_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"parlance.dev/parlance/platform/telemetry"
)

// TestScope: what is noted later is on the line that ends the work; a scope within keeps its own.
func TestScope(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, telemetry.LogConfig{Format: telemetry.LogJSON})
	if err != nil {
		t.Fatal(err)
	}
	said := func() map[string]any {
		t.Helper()
		var record map[string]any
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		out.Reset()
		return record
	}
	outer := telemetry.OpenScope(t.Context())
	telemetry.Note(outer, telemetry.KeyRequestID, "req_1")
	inner := telemetry.OpenScope(outer)
	telemetry.Note(inner, telemetry.KeyTurnID, "turn_1")
	telemetry.Note(outer, telemetry.KeyTenantID, "ten_1")
	log.InfoContext(outer, "request")
	if got := said(); got["request_id"] != "req_1" || got["tenant_id"] != "ten_1" || got["turn_id"] != nil {
		t.Errorf("outside: %v", got)
	}
	log.With(telemetry.KeyRequestID, "req_2").InfoContext(inner, "turn", telemetry.KeyTurnID, "turn_2")
	if bytes.Count(out.Bytes(), []byte("request_id")) != 1 || bytes.Count(out.Bytes(), []byte("turn_id")) != 1 {
		t.Errorf("a key is there twice: %s", out.Bytes())
	}
	if got := said(); got["request_id"] != "req_2" || got["turn_id"] != "turn_2" {
		t.Errorf("a key that is given by hand: %v", got)
	}
}

// TestOrigin: what goes along is the trace and the request id, and no baggage goes out.
func TestOrigin(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	header := http.Header{"Traceparent": {parent}, "Baggage": {"user=ada"}}
	ctx := telemetry.OpenScope(telemetry.Receive(t.Context(), header))
	telemetry.Note(ctx, telemetry.KeyRequestID, "req_1")
	origin := telemetry.OriginOf(ctx)
	if origin != (telemetry.Origin{Traceparent: parent, RequestID: "req_1"}) {
		t.Errorf("origin %+v", origin)
	}
	later := origin.Context(t.Context())
	if got := telemetry.OriginOf(later); got != origin {
		t.Errorf("after a hop: %+v", got)
	}
	sent := http.Header{}
	telemetry.Propagate(later, sent)
	if len(sent) != 1 || sent.Get("Traceparent") != parent {
		t.Errorf("sent %v", sent)
	}
	for _, garbage := range []string{"", "x", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"} {
		if got := telemetry.OriginOf(telemetry.Origin{Traceparent: garbage}.Context(t.Context())); got.Traceparent != "" {
			t.Errorf("%q became %q", garbage, got.Traceparent)
		}
	}
}
