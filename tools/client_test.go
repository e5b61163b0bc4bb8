package tools_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/tools"
)

// TestTracedOnce: a trace whose statement is sent again, because its answer was lost with the
// connection, is neither a second one nor an error.
func TestTracedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var log bytes.Buffer
	f.deps.Log = slog.New(slog.NewTextHandler(&log, nil))
	service := tools.New(f.deps)
	call := tools.ClientCall{
		Ref: f.ref, AgentID: f.agent.ID, SessionID: idgen.New(idgen.Session), TurnID: idgen.New(idgen.Turn), CallID: idgen.New(idgen.ToolCall),
		Name: "pick", Arguments: json.RawMessage(`{"n":1}`), Output: "red", StartedAt: time.Now().UTC(), Latency: 3 * time.Second,
	}
	service.TraceClient(t.Context(), call)
	call.Output = "blue"
	service.TraceClient(t.Context(), call)
	traces, _, err := service.ListCallsOfSession(t.Context(), f.ref, tools.CallFilter{SessionID: call.SessionID}, postgres.PageParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(traces) != 1 || traces[0].Output != "red" || traces[0].ToolID != "client:pick" || traces[0].LatencyMS != 3000 ||
		traces[0].AgentID != f.agent.ID {
		t.Errorf("traced %+v", traces)
	}
	if log.Len() != 0 {
		t.Errorf("logged %s", log.String())
	}
}
