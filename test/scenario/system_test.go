package scenario

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/redistest"
)

func TestSystemPaths(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	open := harness.Key("")
	if got := env.Do(t, "GET", "/healthz", nil, open).Must(t, 200); got.Text("status") != "ok" {
		t.Errorf("healthz: %s", got.Body)
	}
	if got := env.Do(t, "GET", "/readyz", nil, open).Must(t, 200); got.Text("checks", "postgres") != "ok" ||
		got.Text("checks", "redis") != "ok" || got.Text("checks", "bucket") != "ok" {
		t.Errorf("readyz: %s", got.Body)
	}
	env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200)
	if got := env.Do(t, "GET", "/metrics", nil, open).Must(t, 200); !strings.Contains(string(got.Body),
		`route="GET /v1/workspaces/{workspace_id}/agents"`) {
		t.Errorf("metrics do not count requests by route:\n%s", got.Body)
	}
	if got := env.Do(t, "GET", "/openapi.json", nil, open).Must(t, 200); !strings.HasPrefix(got.Text("openapi"),
		"3.1") || got.At("paths", "/v1/sessions", "post") == nil {
		t.Error("openapi.json is not the contract")
	}
	checkCached(t, env)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/errors/internal"} {
		got := env.Do(t, "POST", path, "{}", open)
		checkProblem(t, got, 405, "method-not-allowed")
		if allow := got.Header.Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow %q", path, allow)
		}
	}
}

// checkCached: the document is kept by caches, which ask whether it is still the same.
func checkCached(t *testing.T, env *harness.Env) {
	t.Helper()
	first := env.Do(t, "GET", "/openapi.json", nil, harness.Key("")).Must(t, 200)
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("ETag %q, Cache-Control %q", tag, first.Header.Get("Cache-Control"))
	}
	same := env.Do(t, "GET", "/openapi.json", nil, harness.Key(""), harness.Header("If-None-Match", tag)).Must(t, 304)
	if len(same.Body) > 0 || same.Header.Get("ETag") != tag {
		t.Errorf("the same document: %d bytes, ETag %q", len(same.Body), same.Header.Get("ETag"))
	}
	env.Do(t, "GET", "/openapi.json", nil, harness.Key(""), harness.Header("If-None-Match", `"another"`)).Must(t, 200)
}

func TestErrorPages(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for _, entry := range fault.Table() {
		path := "/errors/" + string(entry.Reason)
		got := env.Do(t, "GET", path, nil, harness.Key("")).Must(t, 200)
		if got.Text("code") != string(entry.Reason) || got.Text("title") == "" || got.Text("advice") == "" ||
			got.At("status") != float64(entry.Kind.Status()) {
			t.Errorf("%s: %s", path, got.Body)
		}
		page := env.Do(t, "GET", path, nil, harness.Key(""), harness.Header("Accept", "text/html,*/*")).Must(t, 200)
		if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(page.Body), string(entry.Reason)) {
			t.Errorf("%s as a page: %s", path, page.Body)
		}
	}
	checkProblem(t, env.Do(t, "GET", "/errors/no-such-code", nil, harness.Key("")), 404, "not-found")
}

func TestHealthAndReflection(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	want := []string{
		"parlance.v1.AgentService", "parlance.v1.ApiKeyService", "parlance.v1.KnowledgeService", "parlance.v1.SessionService",
		"parlance.v1.ToolService", "parlance.v1.WebhookService", "parlance.v1.WorkspaceService",
	}
	for _, protocol := range harness.Protocols() {
		if strings.HasSuffix(protocol.Name, "JSON") || strings.Contains(protocol.Name, "JSONOver") {
			continue // the messages below are raw bytes
		}
		t.Run(protocol.Name, func(t *testing.T) {
			t.Parallel()
			clients := env.Clients(t, protocol, "") // neither needs a key
			// HealthCheckResponse.status is field 1; SERVING is 1.
			health := connect.NewClient[emptypb.Empty, emptypb.Empty](clients.HTTP, env.URL+"/grpc.health.v1.Health/Check", protocol.Options...)
			answer, err := health.CallUnary(t.Context(), connect.NewRequest(&emptypb.Empty{}))
			if err != nil || string(answer.Msg.ProtoReflect().GetUnknown()) != "\x08\x01" {
				t.Errorf("health: %v %v", answer, err)
			}
			if !protocol.H2C {
				return // reflection is a stream both ways
			}
			stream := grpcreflect.NewClient(clients.HTTP, env.URL, protocol.Options...).NewStream(t.Context())
			defer func() { _, _ = stream.Close() }()
			names, err := stream.ListServices()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range want {
				if !slices.ContainsFunc(names, func(n protoreflect.FullName) bool { return string(n) == name }) {
					t.Errorf("reflection lists %v, without %s", names, name)
				}
			}
			files, err := stream.FileContainingSymbol("parlance.v1.ToolService")
			if err != nil || len(files) == 0 {
				t.Errorf("the file of ToolService: %v", err)
			}
		})
	}
	got := env.Do(t, "POST", "/grpc.health.v1.Health/Check", `{"service":"parlance.v1.ToolService"}`, harness.Key("")).Must(t, 200)
	if status := got.Text("status"); status != "SERVING" && status != "SERVING_STATUS_SERVING" {
		t.Errorf("health of a service: %s", got.Body)
	}
}

func TestRefusalsOfTheMux(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const create = "/parlance.v1.AgentService/CreateAgent"
	text := harness.Header("Content-Type", "text/csv")
	for name, row := range map[string]struct {
		method, path string
		with         []harness.With
		status       int
		code, allow  string
	}{
		"NoRoute":         {method: "GET", path: "/v1/nothing", status: 404, code: "route-not-found"},
		"TrailingSlash":   {method: "GET", path: "/v1/sessions/", status: 404, code: "route-not-found"},
		"DoubleSlash":     {method: "GET", path: "/v1//sessions", status: 404, code: "route-not-found"},
		"Dots":            {method: "GET", path: "/v1/x/../sessions", status: 404, code: "route-not-found"},
		"NoRouteNoKey":    {method: "GET", path: "/v1/nothing", with: []harness.With{harness.Key("")}, status: 404, code: "route-not-found"},
		"Method":          {method: "PUT", path: "/v1/sessions", status: 405, code: "method-not-allowed", allow: "GET, HEAD, POST"},
		"MethodUnknown":   {method: "BREW", path: "/v1/sessions", status: 405, code: "method-not-allowed", allow: "GET, HEAD, POST"},
		"MethodOfAction":  {method: "GET", path: "/v1/sessions/x/end", status: 405, code: "method-not-allowed", allow: "POST"},
		"MediaType":       {method: "POST", path: "/v1/sessions", with: []harness.With{text}, status: 415, code: "unsupported-media-type"},
		"UploadMediaType": {method: "POST", path: env.Tenant.In("/knowledge-base/sources/upload"), status: 415, code: "unsupported-media-type"},
		"NoService":       {method: "POST", path: "/parlance.v1.NoService/Get", status: 404, code: "route-not-found"},
		"NoProcedure":     {method: "POST", path: "/parlance.v1.AgentService/Nothing", status: 404, code: "route-not-found"},
		"ProcedureMethod": {method: "PUT", path: create, status: 405, code: "method-not-allowed", allow: "POST"},
		"ProcedureType":   {method: "POST", path: create, with: []harness.With{text}, status: 415, code: "unsupported-media-type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := env.Do(t, row.method, row.path, "{}", row.with...)
			checkProblem(t, got, row.status, row.code)
			if allow := got.Header.Get("Allow"); allow != row.allow {
				t.Errorf("Allow %q, want %q", allow, row.allow)
			}
		})
	}
}

// TestWithoutRedis shows what goes on while Redis is away, and that /readyz and health say so;
// that the spill cannot be written is said, and takes no server out.
func TestWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.NewServer(t)
	env := harness.Start(t, harness.Options{Plan: "pro", RedisURL: redis.URL})
	ready := func() int { return env.Do(t, "GET", "/readyz", nil, harness.Key("")).Status }
	health := func() string { return env.Do(t, "POST", "/grpc.health.v1.Health/Check", `{}`).Text("status") }
	limited := env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200)
	if limited.Header.Get("RateLimit-Remaining") == "" {
		t.Errorf("no RateLimit headers: %v", limited.Header)
	}
	redis.Kill()
	harness.Await(t, harness.Patience, "/readyz says 503", func() bool { return ready() == http.StatusServiceUnavailable })
	if got := env.Do(t, "GET", "/readyz", nil); got.Text("checks", "redis") == "ok" || got.Text("checks", "postgres") != "ok" {
		t.Errorf("readyz: %s", got.Body)
	}
	if got := health(); !strings.HasSuffix(got, "NOT_SERVING") {
		t.Errorf("health says %q", got)
	}
	env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200)
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201)
	made := env.Do(t, "POST", "/v1/sessions", map[string]string{"agent_id": agent.Text("id"), "user_id": "u", "modality": "text"}).Must(t, 201)
	env.Do(t, "POST", "/v1/sessions/"+made.Text("id")+"/turns", `{"text":"Hello?"}`).Must(t, 200)
	if got := env.Do(t, "GET", "/metrics", nil); !strings.Contains(string(got.Body), "parlance_ratelimit_bypassed_total") {
		t.Error("no metric says that limits are bypassed")
	}
	redis.Start()
	harness.Await(t, harness.Patience, "/readyz says 200", func() bool { return ready() == http.StatusOK })
	if got := env.Do(t, "GET", "/readyz", nil); got.Text("checks", "spill") != "ok" {
		t.Errorf("readyz: %s", got.Body)
	}
	spill := filepath.Join(filepath.Dir(env.BlobDir), "spill")
	if err := os.Rename(spill, spill+"-away"); err != nil {
		t.Fatal(err)
	}
	if got := env.Do(t, "GET", "/readyz", nil).Must(t, 200); got.Text("checks", "spill") != "degraded" || got.Text("status") != "ready" {
		t.Errorf("readyz without the directory of the spill: %s", got.Body)
	}
	if err := os.Rename(spill+"-away", spill); err != nil {
		t.Fatal(err)
	}
}

// untilRefused asks again until it is refused: the slower the machine, the more a limit lets pass
// meanwhile, and a Redis that does not answer in time is not asked for a second.
func untilRefused(t *testing.T, ask func() (refused bool)) {
	t.Helper()
	harness.Await(t, harness.Patience, "a refusal", ask)
}

// TestRateLimit uses up a key's burst.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{Plan: "free", WithoutWorker: true})
	var refused harness.Response
	untilRefused(t, func() bool { // uploads: 30 a minute, twice that at once
		refused = env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/upload"), "{}")
		return refused.Status == http.StatusTooManyRequests
	})
	checkProblem(t, refused, 429, "rate-limited")
	if refused.Header.Get("Retry-After") == "" || refused.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("headers: %v", refused.Header)
	}
	env.Do(t, "GET", env.Tenant.In("/agents"), nil).Must(t, 200) // another bucket
	env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/upload"), "{}", harness.Key(env.Tenant.Operator)).Must(t, 415)
}

// TestGracefulShutdown stops the server in the middle of a streamed turn.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two."}, Gate: gate})
	env := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL,
		"PARLANCE_MODEL_NAME":     openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201)
	made := env.Do(t, "POST", "/v1/sessions", map[string]string{"agent_id": agent.Text("id"), "user_id": "u", "modality": "text"}).Must(t, 201)
	request, err := env.NewRequest(t, "POST", "/v1/sessions/"+made.Text("id")+"/turns", `{"text":"Count."}`,
		harness.Header("Accept", "text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	gate <- struct{}{}
	body := bufio.NewReader(answer.Body)
	awaitData(t, body, "turn.delta")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		env.Stop()
	}()
	address := strings.TrimPrefix(env.URL, "http://")
	harness.Await(t, harness.Patience, "new connections are refused", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	select {
	case <-stopped:
		t.Fatal("the server has gone although a turn runs")
	case gate <- struct{}{}:
	}
	if done := awaitData(t, body, "turn.done"); harness.Path(done, "turn", "text") != "One two." {
		t.Errorf("turn.done: %v", done)
	}
	select {
	case <-stopped:
	case <-time.After(harness.Patience):
		t.Fatal("the server does not stop")
	}
	if got := harness.Rows[string](t, env, "SELECT status || ' ' || agent_text FROM turns"); !slices.Equal(got,
		[]string{"completed One two."}) {
		t.Errorf("the turns stored: %v", got)
	}
}

// awaitData reads Server-Sent Events to the first of a type.
func awaitData(t *testing.T, body *bufio.Reader, kind string) map[string]any {
	t.Helper()
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %s: %v", kind, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("data %s: %v", data, err)
		}
		if event["type"] == kind {
			return event
		}
	}
}

// TestStopEndsWatching: streams that wait for what happens end when the server begins to stop, and
// say so; it waited for them as for an answer, to the end of its patience.
func TestStopEndsWatching(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	source := env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"),
		`{"name":"n","content":"Something to read."}`).Must(t, 202).Text("id")
	feed, _ := openEvents(t, env, env.Tenant.In("/events"))
	watched, _ := openEvents(t, env, env.Tenant.In("/knowledge-base/sources/"+source+"/events"))
	until(t, watched, `"status":"queued"`)
	stopped := make(chan struct{})
	go func() { defer close(stopped); env.Stop() }()
	for _, lines := range []chan string{feed, watched} {
		until(t, lines, "event: error")
		until(t, lines, `"code":"unavailable"`)
		ends(t, lines)
	}
	<-stopped
}
