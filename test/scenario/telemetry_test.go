package scenario

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/capture"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/fake/openaiembed"
	"parlance.dev/parlance/test/fake/otlp"
	"parlance.dev/parlance/test/harness"
)

// journal keeps what is logged.
type journal struct{ capture.Buffer }

// lines are the records with these members.
func (j *journal) lines(t testing.TB, members map[string]string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range bytes.Lines(j.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			continue // a line that is being written
		}
		matches := true
		for key, value := range members {
			matches = matches && record[key] == value
		}
		if matches {
			found = append(found, record)
		}
	}
	return found
}

// traced is an installation whose traces and logs are looked at.
type traced struct {
	*slice
	collector *otlp.Collector
	logs      *journal
}

func newTraced(t *testing.T, settings map[string]string) traced {
	t.Helper()
	x := traced{collector: otlp.New(t), logs: &journal{}}
	all := map[string]string{"PARLANCE_OTLP_ENDPOINT": x.collector.URL, "PARLANCE_OTLP_HEADERS": "x-team=blue%2Cgreen"}
	for name, value := range settings {
		all[name] = value
	}
	x.slice = newSliceWith(t, harness.Options{Settings: all, Log: x.logs})
	return x
}

// await waits for a span of that name in a trace.
func (x traced) await(trace, name string) otlp.Span {
	x.t.Helper()
	return x.collector.Await(x.t, harness.Patience, name+" in "+trace, func(s otlp.Span) bool { return s.TraceID == trace && s.Name == name })
}

// parents checks that each span's parent is the one named before it.
func (x traced) parents(trace string, chain ...string) {
	x.t.Helper()
	for i := 1; i < len(chain); i++ {
		child := x.await(trace, chain[i])
		parent := x.collector.Await(x.t, harness.Patience, "the parent of "+chain[i],
			func(s otlp.Span) bool { return s.SpanID == child.ParentID })
		if parent.Name != chain[i-1] {
			x.t.Errorf("the parent of %q is %q, want %q", chain[i], parent.Name, chain[i-1])
		}
	}
}

// TestTraceOfUpload follows a file from the request to the vectors, by the trace of its caller.
func TestTraceOfUpload(t *testing.T) {
	t.Parallel()
	embedder := openaiembed.Start(t)
	x := newTraced(t, map[string]string{
		"PARLANCE_EMBEDDING_BASE_URL": embedder.URL,
		"PARLANCE_EMBEDDING_NAME":     openaiembed.Model, "PARLANCE_EMBEDDING_API_KEY": openaiembed.APIKey,
	})
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	body, contentType := form(t, part{name: "file", filename: "a.md", mediaType: "text/markdown", content: handbook})
	x.Do(t, "POST", x.Tenant.In("/knowledge-base/sources/upload"), body, harness.Header("Content-Type", contentType),
		harness.Header("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")).Must(t, 202)
	x.parents(trace, "POST /v1/workspaces/{workspace_id}/knowledge-base/sources/upload", "process ingest_source",
		"ingest source", "ingest embedding", "embeddings "+openaiembed.Model)
	x.parents(trace, "append _source.queued", "relay _source.queued")
	for _, stage := range []string{"ingest parsing", "ingest chunking", "ingest storing"} {
		x.await(trace, stage)
	}
	x.parents(trace, "ingest storing", "append kb.source_ingested", "deliver kb.source_ingested")
	if headers := x.collector.Headers(); headers[0].Get("X-Team") != "blue,green" {
		t.Errorf("the exports' headers: %v", headers[0])
	}
	if request := x.hook.Await(t.Context(), t, 1)[0]; !strings.Contains(request.Header.Get("Traceparent"),
		trace) || request.Header.Get("Baggage") != "" {
		t.Errorf("the webhook's headers: %v", request.Header)
	}
}

// TestTraceOfConversation follows a turn, and the session's end to the webhook that tells of it.
func TestTraceOfConversation(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t,
		openaichat.Reply{Calls: []openaichat.Call{{ID: "call_1", Name: "order_status", Arguments: []string{`{"number":"7"}`}}}},
		openaichat.Reply{Text: []string{"It is on its way."}},
		openaichat.Reply{Text: []string{`{"facts":[{"text":"Waits for order 7","turn":1}]}`}})
	x := newTraced(t, map[string]string{"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model})
	x.addTool()
	id := x.createSession().Text("id")
	const turn, end = "11111111111111111111111111111111", "22222222222222222222222222222222"
	x.Do(t, "POST", "/v1/sessions/"+id+"/turns", `{"text":"Where is order 7?"}`, harness.Header("Traceparent",
		"00-"+turn+"-00f067aa0ba902b7-01")).Must(t, 200)
	x.Do(t, "POST", "/v1/sessions/"+id+"/end", `{"status":"completed"}`, harness.Header("Traceparent",
		"00-"+end+"-00f067aa0ba902b7-01")).Must(t, 200)
	x.parents(turn, "POST /v1/sessions/{session_id}/turns", "parlance.v1.SessionService/CreateTurn", "invoke_agent", "chat "+openaichat.Model)
	x.parents(turn, "invoke_agent", "retrieve passages")
	x.parents(turn, "invoke_agent", "record turn")
	x.parents(turn, "invoke_agent", "execute_tool order_status", "GET")
	x.parents(end, "append post_call_transcription", "deliver post_call_transcription")
	// What is to be remembered is found in a trace of its own, which points to the end's.
	learnt := x.collector.Await(t, harness.Patience, "process extract_memory",
		func(s otlp.Span) bool { return s.Name == "process extract_memory" })
	if learnt.ParentID != "" || learnt.TraceID == end || !slices.Equal(learnt.Links, []string{end}) ||
		learnt.Attributes["parlance.workspace_id"] != x.Tenant.WorkspaceID {
		t.Errorf("the extraction's span: %+v", learnt)
	}
	x.parents(learnt.TraceID, "process extract_memory", "chat "+openaichat.Model)
	if got := x.hook.Await(t.Context(), t, 1)[0].Body; !bytes.Contains(got, []byte("Waits for order 7")) {
		t.Errorf("the end is announced without what was learnt: %s", got)
	}
	chat := x.await(turn, "chat "+openaichat.Model)
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": openaichat.Model,
		"gen_ai.response.model": openaichat.Model, "gen_ai.response.finish_reasons": "tool_calls", "parlance.session_id": id,
	} {
		if got := chat.Attributes[key]; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if requests := x.shop.Requests(""); len(requests) != 2 ||
		!strings.Contains(requests[1].Header.Get("Traceparent"), turn) || requests[1].Header.Get("Baggage") != "" {
		t.Errorf("the tool's request: %+v", requests)
	}
	if bytes.Contains(x.collector.Raw(), []byte("Where is order")) || bytes.Contains(x.collector.Raw(), []byte("on its way")) {
		t.Error("a trace holds what was said")
	}
	line := x.logs.lines(t, map[string]string{"msg": "request", "route": "POST /v1/sessions/{session_id}/turns"})
	if len(line) != 1 || line[0]["tenant_id"] != x.Tenant.ID || line[0]["session_id"] != id ||
		line[0]["workspace_id"] != x.Tenant.WorkspaceID || line[0]["trace_id"] != turn {
		t.Errorf("the turn's access log: %v", line)
	}
}

// TestFailedIngestIsFound: who has the X-Request-Id of an upload finds what the worker said of it.
func TestFailedIngestIsFound(t *testing.T) {
	t.Parallel()
	embedder := openaiembed.Start(t)
	x := newTraced(t, map[string]string{
		"PARLANCE_EMBEDDING_BASE_URL": embedder.URL,
		"PARLANCE_EMBEDDING_NAME":     openaiembed.Model, "PARLANCE_EMBEDDING_API_KEY": openaiembed.APIKey,
	})
	refusals := slices.Repeat([]openaiembed.Refusal{{Status: http.StatusBadRequest}}, 100)
	embedder.Refuse(refusals...)
	made := x.upload("a.md", "text/markdown", handbook).Must(t, 202)
	said := map[string]string{"msg": "source will be tried again", "request_id": made.Header.Get("X-Request-Id")}
	harness.Await(t, harness.Patience, "two failed runs, the second found by the sweep",
		func() bool { return len(x.logs.lines(t, said)) >= 2 })
	for _, line := range x.logs.lines(t, said) {
		if line["source_id"] != made.Text("id") || line["tenant_id"] != x.Tenant.ID ||
			line["workspace_id"] != x.Tenant.WorkspaceID || line["task_type"] != "ingest_source" || line["trace_id"] == nil {
			t.Errorf("the line: %v", line)
		}
	}
}

// TestCollectorInTrouble: requests go on, the log says it once, and without the headers' secrets.
func TestCollectorInTrouble(t *testing.T) {
	t.Parallel()
	collector, logs := otlp.New(t), &journal{}
	collector.Refuse(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no access with "+r.Header.Get("Authorization"), http.StatusForbidden)
	})
	env := harness.Start(t, harness.Options{Log: logs, Settings: map[string]string{
		"PARLANCE_OTLP_ENDPOINT": collector.URL, "PARLANCE_OTLP_HEADERS": "Authorization=Bearer%20c0llector-secret",
	}})
	lost := func() []map[string]any { return logs.lines(t, map[string]string{"msg": "traces not exported"}) }
	for range 3 {
		env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200)
	}
	harness.Await(t, harness.Patience, "the loss is logged", func() bool { return len(lost()) > 0 })
	collector.Refuse(nil)
	harness.Await(t, harness.Patience, "exports work again", func() bool {
		env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200)
		return len(logs.lines(t, map[string]string{"msg": "traces are exported again"})) == 1
	})
	if len(lost()) != 1 || bytes.Contains(logs.Bytes(), []byte("c0llector-secret")) {
		t.Errorf("logged %v", lost())
	}
}
