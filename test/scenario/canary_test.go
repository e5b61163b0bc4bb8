package scenario

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"
	goredis "github.com/redis/go-redis/v9"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/otlp"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/test/redistest"
)

// The secrets that the test chooses itself; what the service makes is collected on the way.
const (
	canaryDatabase     = "canary-database-7Q2mZx81"
	canaryRedis        = "canary-redis-pw-4Kd93Lsa"
	canaryModel        = "canary-model-key-9Tz5Wq0e"
	canaryEmbedding    = "canary-embed-key-3Hn7Bv2c"
	canaryCollector    = "canary-otlp-head-8Jf4Gy6u"
	canaryAuth         = "canary-tool-auth-1Rk6Pm3d"
	canarySecretHeader = "canary-tool-head-6Yt1Df9x"
	canaryVariable     = "canary-variable-s-5Xc8Nb0w"
	canaryHeader       = "canary-hook-header-3Wq7Zs2v"
	canaryUserinfo     = "canary-userinfo-p-2Lv9Ht7y"
	canaryMessage      = "canary words the user said 6Dg1Ua4o"
)

// caged is an installation of processes in which every secret is known.
type caged struct {
	*harness.Env
	t         *testing.T
	logs      *journal
	collector *otlp.Collector
	shop      *httptool.Server
	hook      *receiver.Receiver
	redis     *goredis.Client
	worker    string
	canaries  []canary
	// answers are bodies of everything that was answered, but for those that hand a secret out.
	answers bytes.Buffer
}

// plant notes a secret.
func (c *caged) plant(name, secret string, allowed ...string) {
	c.canaries = append(c.canaries, canary{name: name, secret: secret, allowed: allowed})
}

// ask makes a request and keeps the answer for the search.
func (c *caged) ask(method, path string, body any, with ...harness.With) harness.Response {
	c.t.Helper()
	answer := c.Do(c.t, method, path, body, with...)
	path, _, _ = strings.Cut(path, "?") // ours, and may hold a token
	fmt.Fprintf(&c.answers, "%s %s %d %v %s\n", method, path, answer.Status, answer.Header, answer.Body)
	return answer
}

// withPassword puts a password into a URL.
func withPassword(t *testing.T, raw, user, password string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if u.User != nil && u.User.Username() != "" {
		user = u.User.Username()
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

// leaky is a party that repeats the Authorization it was sent, in another way each time.
func leaky(t *testing.T) *httptest.Server {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the caller may be gone
		said := r.Header.Get("Authorization")
		switch n.Add(1) % 3 {
		case 0:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, said)
		case 1:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"error\":{\"message\":\"overloaded %s\"}}\n\n", said)
		case 2:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {oops %s\n\n", said)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func newCaged(t *testing.T) *caged {
	t.Helper()
	c := &caged{t: t, logs: &journal{}, collector: otlp.New(t), shop: httptool.New(t), hook: receiver.New(t)}
	store := redistest.NewServer(t)
	options, err := goredis.ParseURL(store.URL)
	if err != nil {
		t.Fatal(err)
	}
	open := goredis.NewClient(options)
	defer func() { _ = open.Close() }() // its connection only
	if err := open.ConfigSet(t.Context(), "requirepass", canaryRedis).Err(); err != nil {
		t.Fatal(err)
	}
	locked := *options
	locked.Password = canaryRedis
	c.redis = goredis.NewClient(&locked)
	t.Cleanup(func() { _ = c.redis.Close() })
	c.worker = port.Reserve(t)
	masterFile := filepath.Join(t.TempDir(), "master.key")
	if err := seal.NewMasterKeyFile(masterFile); err != nil {
		t.Fatal(err)
	}
	master, err := os.ReadFile(masterFile)
	if err != nil {
		t.Fatal(err)
	}
	model := leaky(t)
	c.Env = harness.Start(t, harness.Options{
		WithoutServer: true, WithoutWorker: true, Log: c.logs,
		DatabaseURL: withPassword(t, pgtest.New(t).URL, "postgres", canaryDatabase), RedisURL: withPassword(t, store.URL, "default", canaryRedis),
		Settings: map[string]string{
			"PARLANCE_LOG_LEVEL": "debug", "PARLANCE_LOG_FORMAT": "json", "PARLANCE_WORKER_LISTEN": c.worker,
			"PARLANCE_OTLP_ENDPOINT": c.collector.URL, "PARLANCE_OTLP_HEADERS": "authorization=Bearer%20" + canaryCollector,
			"PARLANCE_MODEL_BASE_URL": model.URL + "/v1", "PARLANCE_MODEL_NAME": "m", "PARLANCE_MODEL_API_KEY": canaryModel,
			"PARLANCE_EMBEDDING_BASE_URL": model.URL + "/v1", "PARLANCE_EMBEDDING_NAME": "e", "PARLANCE_EMBEDDING_API_KEY": canaryEmbedding,
			"PARLANCE_MASTER_KEY_FILE": masterFile, "PARLANCE_EGRESS_CA_FILE": c.hook.CAFile(t),
		},
	})
	for name, secret := range map[string]string{
		"DATABASE_URL's password": canaryDatabase, "REDIS_URL's password": canaryRedis, "the model's key": canaryModel,
		"the embedder's key": canaryEmbedding, "the collector's header": canaryCollector, "a tool's auth_header": canaryAuth,
		"a tool's secret header": canarySecretHeader,
		"a secret variable":      canaryVariable, "a password in a refused URL": canaryUserinfo,
		"the master key": strings.TrimRight(strings.TrimSpace(string(master)), "="),
		"the admin key":  c.Tenant.Admin, "the operator key": c.Tenant.Operator, "the runtime key": c.Tenant.Runtime,
		"the read key": c.Tenant.Read,
	} {
		c.plant(name, secret)
	}
	c.plant("what the user said", canaryMessage, "the database", "the answers", "the webhooks")
	return c
}

// converse plants the secrets of callers and makes everything that has one fail and succeed.
func (c *caged) converse() {
	agent := c.ask("POST", c.Tenant.In("/agents"), `{"name":"Ada"}`).Must(c.t, 201).Text("id")
	hook := c.Do(c.t, "POST", c.Tenant.In("/webhooks"), map[string]any{
		"url": c.hook.URL, "events": []string{"post_call_transcription"}, "headers": map[string]string{"Authorization": "Bearer " + canaryHeader},
	}).Must(c.t, 201)
	c.plant("a header of a webhook's own", canaryHeader, "the webhooks")
	c.plant("a webhook's secret", hook.Text("secret"))
	c.hook.Script(receiver.Answer{Status: 500}, receiver.Answer{Reset: true})
	key := c.Do(c.t, "POST", "/v1/api-keys", `{"name":"spare","scope":"read"}`, harness.Header("Idempotency-Key", "canary")).Must(c.t, 201)
	for _, name := range []string{"secret", "key"} {
		if secret := key.Text(name); secret != "" {
			c.plant("a key in a stored answer", secret)
		}
	}
	session := c.Do(c.t, "POST", "/v1/sessions", map[string]any{
		"agent_id": agent, "user_id": "u", "modality": "text", "dynamic_variables": map[string]string{"secret__token": canaryVariable},
	}).Must(c.t, 201)
	token := session.Text("token")
	c.plant("a session's token", token[strings.LastIndexByte(token, '.')+1:])
	id := session.Text("id")
	c.runTools(agent)
	for range 4 {
		c.ask("POST", "/v1/sessions/"+id+"/turns", map[string]string{"text": canaryMessage}, harness.Key(token))
		c.ask("POST", "/v1/sessions/"+id+"/turns", map[string]string{"text": canaryMessage}, harness.Header("Accept", "text/event-stream"))
	}
	c.ask("POST", c.Tenant.In("/knowledge-base/sources/inline"), `{"name":"n","content":"Something to embed."}`).Must(c.t, 202)
	c.ask("POST", c.Tenant.In("/knowledge-base/query"), map[string]any{"agent_id": agent, "q": "What?"})
	c.ask("GET", "/v1/sessions/"+id+"/tool-calls", nil)
	c.ask("GET", "/v1/sessions/"+id+"/turns?token="+url.QueryEscape(token), nil)
	c.ask("POST", "/v1/sessions/"+id+"/end", `{"status":"completed"}`).Must(c.t, 200)
	c.ask("GET", "/v1/realtime/chat/"+id+"?token="+url.QueryEscape(token), nil)
	c.hook.Await(c.t.Context(), c.t, 3)
	for _, protocol := range harness.Protocols() {
		clients := c.Clients(c.t, protocol, c.Tenant.Read)
		_, err := clients.APIKeys.CreateApiKey(c.t.Context(), &parlancev1.CreateApiKeyRequest{Name: "x", Scope: "read"})
		fmt.Fprintf(&c.answers, "%s: %v %d\n", protocol.Name, err, connect.CodeOf(err))
	}
}

// runTools has an endpoint that gives back what it got, in good answers and in bad ones.
func (c *caged) runTools(agent string) {
	tool := c.ask("POST", c.Tenant.In("/tools"), map[string]any{
		"slug": "shop", "description": "d", "kind": "http", "method": "POST", "webhook_url": c.shop.URL + "/shop",
		"auth_header": "Bearer " + canaryAuth, "headers": map[string]string{"X-Shop": "{{secret__token}}"},
		"secret_headers":     map[string]string{"X-Api-Key": canarySecretHeader},
		"allow_dynamic_vars": true, "timeout_seconds": 1,
	}).Must(c.t, 201).Text("id")
	c.ask("POST", c.Tenant.In("/agents/"+agent+"/tools/attach"), map[string]any{"tool_id": tool}).Must(c.t, 200)
	echo := "You sent Bearer " + canaryAuth + " and " + canarySecretHeader + " and " + canaryVariable
	run := func() {
		c.ask("POST", c.Tenant.In("/tools/"+tool+"/run"), map[string]any{
			"args": map[string]any{}, "dynamic_variables": map[string]string{"secret__token": canaryVariable},
		})
	}
	run() // without a script it echoes everything
	for _, step := range []httptool.Step{
		{Status: 500, Body: echo},
		{Status: 401, Body: `{"error": "` + echo},
		{Status: 302, Header: map[string]string{"Location": "https://" + canaryAuth + "@elsewhere.example/"}},
		{BreakOff: true, Body: echo},
		{Reset: true},
		{Hold: true},
	} {
		c.shop.Script("/shop", step)
		run()
	}
	refused := map[string]any{
		"slug": "bad", "description": "d", "kind": "http",
		"webhook_url": "https://user:" + canaryUserinfo + "@shop.example/x",
	}
	c.ask("POST", c.Tenant.In("/tools"), refused).Must(c.t, 400)
	c.ask("POST", c.Tenant.In("/webhooks"),
		map[string]any{"url": "https://user:" + canaryUserinfo + "@hook.example/x", "events": []string{"invoice.paid"}})
	c.ask("GET", c.Tenant.In("/agents"), nil, harness.Key(c.Tenant.Admin+"x")).Must(c.t, 401)
}

// TestCanaries plants a secret wherever one is taken, lets everything succeed and fail at level
// debug, and looks for each in all that leaves the processes or is stored.
func TestCanaries(t *testing.T) {
	t.Parallel()
	c := newCaged(t)
	server := c.StartProcess(t, "server")
	c.StartProcess(t, "worker")
	harness.Await(t, harness.Patience, "the server answers", func() bool {
		answer, err := c.Send(t, "GET", "/readyz", nil)
		return err == nil && answer.Status == 200
	})
	c.converse()
	metrics := bytes.NewBuffer(c.ask("GET", "/metrics", nil).Must(t, 200).Body)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.worker+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, err = metrics.ReadFrom(answer.Body)
	if _ = answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	c.collector.Await(t, harness.Patience, "an attempt to deliver",
		func(s otlp.Span) bool { return s.Name == "deliver post_call_transcription" })
	server.Terminate()
	var webhooks bytes.Buffer
	for _, sent := range c.hook.Requests() {
		fmt.Fprintf(&webhooks, "%v %s\n", sent.Header, sent.Body)
	}
	stored, cached := dumpDatabase(t, c.Env), dumpRedis(t, c.Env)
	// What cannot be reached: the words of a start that fails.
	if err := c.redis.ConfigSet(t.Context(), "requirepass", "another").Err(); err != nil {
		t.Fatal(err)
	}
	c.Exec(t, "DROP TABLE events CASCADE")
	failing := c.StartProcess(t, "server")
	harness.Await(t, harness.Patience, "more is logged", func() bool { return bytes.Count(c.logs.Bytes(), []byte("events")) > 0 })
	failing.Kill()
	search(t, c.canaries, map[string][]byte{
		"the logs": c.logs.Bytes(), "the traces": c.collector.Raw(), "the metrics": metrics.Bytes(), "the answers": c.answers.Bytes(),
		"the webhooks": webhooks.Bytes(), "the database": stored, "Redis": cached,
	})
	for _, want := range []string{"POST /v1/sessions/{session_id}/turns", "source will be tried again", "webhook attempt failed"} {
		if !bytes.Contains(c.logs.Bytes(), []byte(want)) {
			t.Errorf("the logs lack %q: the search saw less than it should", want)
		}
	}
}
