package scenario

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// bomb is a megabyte of gzip or less that becomes n bytes of an agent's name.
func bomb(n int) []byte {
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	_, _ = io.WriteString(compressor, `{"name":"`) // into memory, as all that follows
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range n >> 20 {
		_, _ = compressor.Write(block)
	}
	_, _ = io.WriteString(compressor, `"}`)
	_ = compressor.Close()
	return out.Bytes()
}

func gzipped(plain []byte) []byte {
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	_, _ = compressor.Write(plain) // into memory
	_ = compressor.Close()
	return out.Bytes()
}

// TestCompression: requests and answers in gzip over REST and Connect, small answers as they are.
func TestCompression(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	in := env.Tenant.In
	encoded := harness.Header("Content-Encoding", "gzip")
	long := strings.Repeat("Be kind. ", 1000)
	made := env.Do(t, "POST", in("/agents"), gzipped([]byte(`{"name":"Ada","instructions":"`+long+`"}`)), encoded,
		harness.Header("Idempotency-Key", "k")).Must(t, 201)
	again := env.Do(t, "POST", in("/agents"), gzipped([]byte(`{"name":"Ada","instructions":"`+long+`"}`)), encoded,
		harness.Header("Idempotency-Key", "k")).Must(t, 201)
	same(t, made, again)
	path := in("/agents/" + made.Text("id"))
	for name, row := range map[string]struct {
		path, accept string
		compressed   bool
	}{
		"large":         {path, "gzip", true},
		"weighted":      {path, "br;q=1.0, gzip;q=0.5, *;q=0", true},
		"any":           {path, "*", true},
		"not asked":     {path, "identity", false},
		"refused":       {path, "gzip;q=0", false},
		"another":       {path, "br", false},
		"small":         {"/v1/workspaces?page_size=1", "gzip", false},
		"the contract":  {"/openapi.json", "gzip", true},
		"small problem": {"/v1/nothing", "gzip", false},
	} {
		got := env.Do(t, "GET", row.path, nil, harness.Header("Accept-Encoding", row.accept))
		if isGzip := got.Header.Get("Content-Encoding") == "gzip"; isGzip != row.compressed {
			t.Errorf("%s: Content-Encoding %q", name, got.Header.Get("Content-Encoding"))
		}
		if row.compressed != bytes.HasPrefix(got.Body, []byte{0x1f, 0x8b}) {
			t.Errorf("%s: the body begins %x", name, got.Body[:min(4, len(got.Body))])
		}
		if row.path == path && got.Header.Get("Vary") == "" {
			t.Errorf("%s: no Vary", name)
		}
	}
	if head := env.Do(t, "HEAD", path, nil, harness.Header("Accept-Encoding", "gzip")).Must(t,
		200); len(head.Body) != 0 || head.Header.Get("Content-Encoding") != "" {
		t.Errorf("HEAD: %v", head.Header)
	}
}

// TestBodyLimitsOverEveryProtocol: a message over the hard limit, and one that gzip makes so, gets
// the same reason whatever it came by; so does one that cannot be read.
func TestBodyLimitsOverEveryProtocol(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	huge := &parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "n", Instructions: strings.Repeat("x", 9<<20)}
	for _, protocol := range harness.Protocols() {
		for name, options := range map[string][]connect.ClientOption{"plain": nil, "gzip": {connect.WithSendGzip()}} {
			t.Run(protocol.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				sending := protocol
				sending.Options = append(options, protocol.Options...)
				_, err := env.Clients(t, sending, env.Tenant.Operator).Agents.CreateAgent(t.Context(), huge)
				checkWire(t, err, sameCall{reason: "body-too-large", code: connect.CodeResourceExhausted})
			})
		}
	}
	checkProblem(t, env.Do(t, "POST", env.Tenant.In("/agents"),
		`{"name":"n","instructions":"`+huge.GetInstructions()+`"}`), 413, "body-too-large")

	procedure := "/parlance.v1.AgentService/CreateAgent"
	for name, row := range map[string]struct {
		body        []byte
		contentType string
		with        harness.With
	}{
		"JSON":  {[]byte(`{"name":`), "application/json", nil},
		"Types": {[]byte(`{"workspace_id":"w","name":5,"invented":{}}`), "application/json", nil},
		"Empty": {[]byte{}, "application/json", nil},
		"Proto": {[]byte{0xff, 0xff}, "application/proto", nil},
		"Text":  {append([]byte{0x12, 2}, 0xff, 0xfe), "application/proto", nil},
		"Ours":  {mustSpoil(t), "application/proto", nil},
	} {
		got := env.Do(t, http.MethodPost, procedure, row.body, harness.Header("Content-Type", row.contentType))
		if got.Status != 400 || got.Text("code") != "invalid_argument" || !strings.Contains(string(got.Body),
			"google.rpc.ErrorInfo") || strings.Contains(string(got.Body), "proto:") {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		if name == "Types" && (!strings.Contains(string(got.Body), `"field":"name"`) &&
			!strings.Contains(string(got.Body), "name: Must be a string.")) {
			t.Errorf("the field is not named: %s", got.Body)
		}
	}
}

// mustSpoil is a message with the field in which the server notes what it could not read.
func mustSpoil(t *testing.T) []byte {
	t.Helper()
	encoded, err := proto.Marshal(&parlancev1.CreateAgentRequest{Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	return append(encoded, 0xfa, 0xff, 0xff, 0xff, 0x0f, 2, '{', '}') // field 536870911
}
