package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/platform/telemetry"
)

func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var level slog.LevelVar
	logger, err := telemetry.NewLogger(&out, telemetry.LogConfig{Level: &level})
	if err != nil {
		t.Fatal(err)
	}
	logger.Debug("hidden")
	logger.Info("turn done", telemetry.KeySessionID, "ses_1", "took", 1500*time.Millisecond)
	var record map[string]any
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatalf("one JSON line expected, got %q: %v", out.String(), err)
	}
	if record["msg"] != "turn done" || record["session_id"] != "ses_1" || record["took"] != "1.5s" ||
		!strings.HasSuffix(record["time"].(string), "Z") {
		t.Errorf("record %v", record)
	}
	level.Set(slog.LevelDebug)
	out.Reset()
	if logger.Debug("shown"); !strings.Contains(out.String(), "shown") {
		t.Error("the level did not change")
	}
	out.Reset()
	text, err := telemetry.NewLogger(&out, telemetry.LogConfig{Format: telemetry.LogText})
	if err != nil {
		t.Fatal(err)
	}
	if text.Info("hello"); !strings.Contains(out.String(), "msg=hello") {
		t.Errorf("text: %q", out.String())
	}
	if _, err := telemetry.NewLogger(&out, telemetry.LogConfig{Format: "xml"}); err == nil {
		t.Error("the format xml is accepted")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v1.2.3")
	metrics.ObserveHTTP(telemetry.HTTPRequest{Method: "GET", Route: "/v1/agents", Status: 200, Duration: 3 * time.Millisecond})
	metrics.ObserveHTTP(telemetry.HTTPRequest{Method: "BREW", Route: "/v1/agents", Status: 405, Duration: time.Millisecond})
	metrics.ObserveRPC("/parlance.v1.ToolService/GetTool", "", time.Millisecond)
	metrics.ObserveRPC("/parlance.v1.ToolService/GetTool", "not-found", time.Millisecond)
	metrics.ObserveTask("ingest_source", "done", 2*time.Second)
	answer := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	body := answer.Body.String()
	for _, want := range []string{
		`parlance_http_request_duration_seconds_count{method="GET",route="/v1/agents",status="200"} 1`,
		`parlance_http_request_duration_seconds_bucket{method="GET",route="/v1/agents",status="200",le="0.0025"} 0`,
		`parlance_http_request_duration_seconds_count{method="OTHER",route="/v1/agents",status="405"} 1`,
		`parlance_rpc_duration_seconds_count{code="ok",procedure="/parlance.v1.ToolService/GetTool"} 1`,
		`parlance_rpc_duration_seconds_count{code="not-found",procedure="/parlance.v1.ToolService/GetTool"} 1`,
		`parlance_task_duration_seconds_sum{result="done",task_type="ingest_source"} 2`,
		`parlance_build_info{version="v1.2.3"} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}

// TestTraces exports one span to a collector on the real wire.
func TestTraces(t *testing.T) {
	t.Parallel()
	got := make(chan []byte, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Token") != "t" {
			t.Errorf("export to %s with token %q: %v", r.URL.Path, r.Header.Get("X-Token"), err)
		}
		got <- body
	}))
	defer collector.Close()
	traces, err := telemetry.NewTraces(t.Context(), telemetry.TraceConfig{
		Endpoint: collector.URL + "/v1/traces", Headers: map[string]string{"X-Token": "t"}, Client: collector.Client(),
		Service: "parlance-server", Version: "v1", SampleRatio: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, span := traces.Tracer("test").Start(t.Context(), "answer a turn")
	span.End()
	if err := traces.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if body := <-got; !bytes.Contains(body, []byte("answer a turn")) || !bytes.Contains(body, []byte("parlance-server")) {
		t.Errorf("exported %q", body)
	}
}

func TestNoTraces(t *testing.T) {
	t.Parallel()
	traces, err := telemetry.NewTraces(t.Context(), telemetry.TraceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, span := traces.Tracer("test").Start(t.Context(), "x"); span.IsRecording() {
		t.Error("a span is recorded without an endpoint")
	}
	if err := traces.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := telemetry.NewTraces(t.Context(), telemetry.TraceConfig{Endpoint: "http://127.0.0.1:4318"}); err == nil {
		t.Error("an endpoint without a client is accepted")
	}
}
