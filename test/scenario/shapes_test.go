package scenario

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// raw writes bytes to the port and reads the answers that come until the connection is closed or
// want of them have been read; the status of each.
func raw(t *testing.T, env *harness.Env, request string, want int) []int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(env.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(harness.Patience)) // a socket has deadlines
	if _, err := io.WriteString(conn, request); err != nil {
		t.Logf("hung up on while sending: %v", err)
	}
	var statuses []int
	reader := bufio.NewReader(conn)
	for len(statuses) < want {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			break
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode >= 200 {
			statuses = append(statuses, answer.StatusCode)
		}
	}
	return statuses
}

// TestRawRequests speaks HTTP/1 as no client library would: old versions, pipelines, and shapes by
// which requests are smuggled past a proxy.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	path, key := env.Tenant.In("/agents"), "Authorization: Bearer "+env.Tenant.Admin+"\r\n"
	body := `{"name":"x"}`
	post := func(headers, body string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + key + headers + "\r\n" + body
	}
	get := "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + key + "\r\n"
	before := env.Counts(t)["agents"]
	for name, row := range map[string]struct {
		request string
		want    []int
	}{
		"HTTP/1.0":             {"GET " + path + " HTTP/1.0\r\n" + key + "\r\n", []int{200}},
		"pipelined":            {get + get + get, []int{200, 200, 200}},
		"CL and TE":            {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+get), []int{400}},
		"two CL":               {post("Content-Length: 12\r\nContent-Length: 5\r\n", body), []int{400}},
		"TE obfuscated":        {post("Transfer-Encoding: xchunked\r\n", body), []int{501}},
		"TE twice":             {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), []int{501}},
		"space before colon":   {post("Content-Length : 12\r\n", body), []int{400}},
		"negative CL":          {post("Content-Length: -1\r\n", body), []int{400}},
		"signed CL":            {post("Content-Length: +12\r\n", body), []int{400}},
		"bad chunk":            {post("Transfer-Encoding: chunked\r\nConnection: close\r\n", "zz\r\n"), []int{400}},
		"folded header":        {"GET " + path + " HTTP/1.1\r\nHost: x\r\n" + key + "X-A: a\r\n b: c\r\n\r\n", []int{200}},
		"no host":              {"GET " + path + " HTTP/1.1\r\n" + key + "\r\n", []int{400}},
		"two hosts":            {"GET " + path + " HTTP/1.1\r\nHost: x\r\nHost: y\r\n" + key + "\r\n", []int{400}},
		"NUL in a header":      {"GET " + path + " HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n" + key + "\r\n", []int{400}},
		"huge header":          {"GET " + path + " HTTP/1.1\r\nHost: x\r\nX-A: " + long(2<<20) + "\r\n" + key + "\r\n", []int{431}},
		"no CRLF at the start": {"nonsense\r\n\r\n", []int{400}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "HTTP/1.0" || row.want[0] != 200 {
				if got := raw(t, env, row.request, 2); !slices.Equal(got, row.want) {
					t.Errorf("got %v, want %v", got, row.want)
				}
				return
			}
			if got := raw(t, env, row.request, len(row.want)); !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
	if after := env.Counts(t)["agents"]; after != before {
		t.Errorf("%d agents, then %d", before, after)
	}
	if got := raw(t, env, post("Transfer-Encoding: chunked\r\n", "c\r\n"+body+"\r\n0\r\n\r\n")+get, 2); !slices.Equal(got, []int{201}) {
		t.Errorf("chunked, and one behind it, which is not believed: %v", got)
	}
	if got := raw(t, env, post("Expect: 100-continue\r\nContent-Length: 12\r\n", body), 1); !slices.Equal(got, []int{201}) {
		t.Errorf("Expect: 100-continue: %v", got)
	}
	refused := strings.Replace(post("Expect: 100-continue\r\nContent-Length: 1000000\r\n", ""), key, "", 1)
	if got := raw(t, env, refused, 1); !slices.Equal(got, []int{401}) {
		t.Errorf("refused before it sends: %v", got)
	}
}

// TestPaths: what is another path, and what another verb.
func TestPaths(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	ws := "/v1/workspaces/" + env.Tenant.WorkspaceID
	for _, path := range []string{
		ws + "/agents/", "/v1//workspaces", "//v1/workspaces", "/v1/./workspaces", ws + "/../" + env.Tenant.WorkspaceID + "/agents",
		"/v1/workspaces/%2e%2e/agents/", "/V1/workspaces", "/v1", "/v1/Workspaces", "/parlance.v1.AgentService",
		"/parlance.v1.AgentService/", "/v1/workspaces;a=b",
	} {
		got := env.Do(t, "GET", path, nil, func(r *http.Request) { r.URL.Opaque = path })
		checkProblem(t, got, 404, "route-not-found")
	}
	checkProblem(t, env.Do(t, "GET", ws+"/agents/a%2Fb", nil), 404, "not-found")
	for request, allow := range map[string]string{
		"PUT " + ws + "/agents": "GET, HEAD, POST", "DELETE /v1/sessions": "GET, HEAD, POST", "OPTIONS " + ws + "/agents": "GET, HEAD, POST",
		"GET /v1/sessions/x/end": "POST", "POST /healthz": "GET, HEAD", "TRACE /v1/workspaces": "GET, HEAD, POST",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := env.Do(t, method, path, nil)
		checkProblem(t, got, 405, "method-not-allowed")
		if got.Header.Get("Allow") != allow {
			t.Errorf("%s: Allow %q, want %q", request, got.Header.Get("Allow"), allow)
		}
	}
	head := env.Do(t, "HEAD", ws+"/agents", nil).Must(t, 200)
	if len(head.Body) != 0 || head.Header.Get("Content-Type") != "application/json" {
		t.Errorf("HEAD: %v %s", head.Header, head.Body)
	}
	env.Do(t, "GET", ws+"/agents", nil, harness.Header("Accept", "application/xml")).Must(t, 200)
	env.Do(t, "GET", ws+"/agents/"+long(2<<20), nil).Must(t, 431)
	for sent, kept := range map[string]bool{"abc-1.2_3:4": true, "a b": false, long(129): false, "é": false, `"><script>`: false} {
		if got := env.Do(t, "GET", "/v1/workspaces", nil, harness.Header("X-Request-Id",
			sent)); (got.Header.Get("X-Request-Id") == sent) != kept || got.Header.Get("X-Request-Id") == "" {
			t.Errorf("X-Request-Id %q came back as %q", sent, got.Header.Get("X-Request-Id"))
		}
	}
}

// TestUnknownProcedures: what the RPC mux refuses by itself is a problem to those who speak HTTP,
// and a status that gRPC's clients know to those who speak gRPC.
func TestUnknownProcedures(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const known = "/parlance.v1.AgentService/CreateAgent"
	for _, path := range []string{"/parlance.v1.AgentService/Invented", "/parlance.v9.AgentService/CreateAgent", "/nothing.Here/Call"} {
		checkProblem(t, env.Do(t, "POST", path, `{}`), 404, "route-not-found")
		for _, protocol := range harness.Protocols() {
			client := connect.NewClient[parlancev1.CreateAgentRequest, parlancev1.Agent](env.Clients(t, protocol,
				env.Tenant.Operator).HTTP, env.URL+path, protocol.Options...)
			_, err := client.CallUnary(t.Context(), connect.NewRequest(&parlancev1.CreateAgentRequest{}))
			if connect.CodeOf(err) != connect.CodeUnimplemented {
				t.Errorf("%s over %s: %v", path, protocol.Name, err)
			}
			if protocol.Name == "GRPC" || protocol.Name == "GRPCWeb" {
				checkWire(t, err, sameCall{reason: "route-not-found", code: connect.CodeUnimplemented})
			}
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "PATCH"} {
		got := env.Do(t, method, known, nil)
		checkProblem(t, got, 405, "method-not-allowed")
		if got.Header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q", method, got.Header.Get("Allow"))
		}
	}
	for _, kind := range []string{"text/plain", "", "application/x-www-form-urlencoded", "application/xml", "multipart/form-data"} {
		checkProblem(t, env.Do(t, "POST", known, `{}`, harness.Header("Content-Type", kind)), 415, "unsupported-media-type")
	}
	const thrift = "application/grpc+thrift"
	checkProblem(t, env.Do(t, "POST", known, `x`, harness.Header("Content-Type", thrift)), 415, "unsupported-media-type") // over HTTP/1.1
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, env.URL+known, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", thrift)
	for _, protocol := range harness.Protocols() {
		if protocol.Name != "GRPC" { // it speaks HTTP/2
			continue
		}
		got, err := env.Clients(t, protocol, env.Tenant.Operator).HTTP.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Body.Close(); err != nil {
			t.Error(err)
		}
		if got.StatusCode != 200 || got.Header.Get("Content-Type") != thrift {
			t.Errorf("gRPC of another codec: %d %v", got.StatusCode, got.Header)
		}
	}
}

// slowly makes every agent named slow take a minute to be stored.
const slowly = `
	CREATE FUNCTION slow_as_named() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN IF NEW.name = 'slow' THEN PERFORM pg_sleep(600); END IF; RETURN NEW; END $$;
	CREATE TRIGGER slow_as_named BEFORE INSERT ON agents FOR EACH ROW EXECUTE FUNCTION slow_as_named()`

// TestDeadlines: a deadline of any protocol, and a caller who hangs up, end the statement that
// runs for it.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	env.Exec(t, slowly)
	running := func() int {
		return harness.Rows[int](t, env, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")[0]
	}
	for _, protocol := range harness.Protocols() {
		t.Run(protocol.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := env.Clients(t, protocol, env.Tenant.Operator).Agents.CreateAgent(ctx,
				&parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "slow"})
			if connect.CodeOf(err) != connect.CodeDeadlineExceeded {
				t.Errorf("got %v", err)
			}
			harness.Await(t, harness.Patience, "the statement has ended", func() bool { return running() == 0 })
		})
	}
	// The server keeps the deadline also when the client would wait.
	got := env.Do(t, "POST", "/parlance.v1.AgentService/CreateAgent",
		map[string]any{"workspace_id": env.Tenant.WorkspaceID, "name": "slow"}, harness.Header("Connect-Timeout-Ms", "200"))
	if got.Text("code") != "deadline_exceeded" || !strings.Contains(string(got.Body), "google.rpc.ErrorInfo") {
		t.Errorf("Connect-Timeout-Ms: %d %s", got.Status, got.Body)
	}
	for _, timeout := range []string{"soon", "-1", "99999999999"} {
		got := env.Do(t, "POST", "/parlance.v1.AgentService/CreateAgent", `{"name":"x"}`, harness.Header("Connect-Timeout-Ms", timeout))
		if got.Text("code") != "invalid_argument" {
			t.Errorf("Connect-Timeout-Ms %q: %d %s", timeout, got.Status, got.Body)
		}
	}

	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := env.Send(t, "POST", env.Tenant.In("/agents"), `{"name":"slow"}`, func(r *http.Request) { *r = *r.WithContext(ctx) })
		ended <- err
	}()
	harness.Await(t, harness.Patience, "the statement runs", func() bool { return running() == 1 })
	hangUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	harness.Await(t, harness.Patience, "the statement has ended", func() bool { return running() == 0 })
}

// TestTurnDeadline: a turn whose answer takes longer than its request's deadline fails with the
// deadline's code.
func TestTurnDeadline(t *testing.T) {
	t.Parallel()
	slow := openaichat.New(t, openaichat.Reply{Gate: make(chan struct{}), Text: []string{"Late."}})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": slow.BaseURL, "PARLANCE_MODEL_NAME": "slow",
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	got := env.Do(t, "POST", "/parlance.v1.SessionService/CreateTurn", map[string]any{"session_id": session, "text": "Hello?"},
		harness.Header("Connect-Timeout-Ms", "1000"))
	if got.Status != http.StatusGatewayTimeout || got.Text("code") != "deadline_exceeded" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

// TestUploadReasonsOverEveryProtocol: what is wrong with a file is said the same way to a form as
// to a stream of messages.
func TestUploadReasonsOverEveryProtocol(t *testing.T) {
	t.Parallel()
	env := reasonEnv(t)
	tiny := env.NewTenant(t, "tiny")
	for name, row := range map[string]struct {
		tenant         harness.Tenant
		filename, kind string
		content        string
		reason         string
		status         int
		code           connect.Code
	}{
		"size": {
			tenant: tiny, filename: "a.txt", kind: "text/plain", content: "more than five",
			reason: "quota-exceeded-kb-upload-size", status: 402, code: connect.CodeResourceExhausted,
		},
		"type": {
			tenant: env.Tenant, filename: "a.exe", kind: "application/x-msdownload", content: "MZ",
			reason: "kb-unsupported-media-type", status: 415, code: connect.CodeInvalidArgument,
		},
	} {
		body, contentType := form(t, part{name: "file", filename: row.filename, mediaType: row.kind, content: row.content})
		got := env.Do(t, "POST", row.tenant.In("/knowledge-base/sources/upload"), body,
			harness.Key(row.tenant.Operator), harness.Header("Content-Type", contentType))
		checkProblem(t, got, row.status, row.reason)
		for _, protocol := range harness.Protocols() {
			t.Run(name+"/"+protocol.Name, func(t *testing.T) {
				stream, err := env.Clients(t, protocol, row.tenant.Operator).Knowledge.UploadSource(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				_ = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{
					Metadata: &parlancev1.UploadSourceMetadata{
						WorkspaceId: row.tenant.WorkspaceID, Filename: row.filename, MediaType: row.kind,
					},
				}}) // what is wrong comes with the answer
				_ = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: []byte(row.content)}})
				_, err = stream.CloseAndReceive()
				checkWire(t, err, sameCall{reason: row.reason, code: row.code, fields: sorted(got.Problem.Fields())})
			})
		}
	}
	// A stream's message over the limit is refused at its header: what it announces is not read.
	header := binary.BigEndian.AppendUint32([]byte{0}, 200<<20)
	got := env.Do(t, "POST", "/parlance.v1.KnowledgeService/UploadSource", append(header, long(100)...),
		harness.Header("Content-Type", "application/connect+proto"))
	if !strings.Contains(string(got.Body), "resource_exhausted") || !strings.Contains(string(got.Body), "ErrorInfo") {
		t.Errorf("a message of 200 MiB: %d %s", got.Status, fmt.Sprintf("%q", got.Body))
	}
}
