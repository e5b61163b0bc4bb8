package scenario

import (
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/test/harness"
)

// TestRateLimitHeaders: every protocol gets the remaining number, on success as on refusal, and
// they share one bucket.
func TestRateLimitHeaders(t *testing.T) {
	t.Parallel()
	plans := filepath.Join(t.TempDir(), "plans.json")
	plan := `{"enterprise": {"kb_storage_bytes": 5, "kb_upload_bytes": 5, "tools": true}, "counted": ` +
		`{"kb_storage_bytes": 5, "kb_upload_bytes": 5, "tools": true, "rates_per_minute": {"read": 4, "write": 1}}}`
	if err := os.WriteFile(plans, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{"PARLANCE_PLANS_FILE": plans}})
	tenant := env.NewTenant(t, "counted")
	left := 8 // two minutes' worth at once; a machine that takes 15 s for a request gets one back
	take := func(protocol, limit, remaining, reset string) {
		t.Helper()
		n, err := strconv.Atoi(remaining)
		if seconds, resetErr := strconv.Atoi(reset); err != nil || resetErr != nil || limit != "8" || n >= left || seconds < 1 {
			t.Errorf("%s: RateLimit-Limit %q, -Remaining %q (%d were left), -Reset %q", protocol, limit, remaining, left, reset)
		}
		left = n
	}
	// The server goes round a Redis that did not answer in time, for a second; then nothing is
	// counted.
	counted := func(ask func() http.Header) (header http.Header) {
		t.Helper()
		harness.Await(t, harness.Patience, "a request is counted", func() bool {
			header = ask()
			return header.Get("RateLimit-Limit") != ""
		})
		return header
	}
	for _, protocol := range harness.Protocols() {
		procedure := env.URL + "/parlance.v1.AgentService/ListAgents"
		client := connect.NewClient[parlancev1.ListAgentsRequest, parlancev1.ListAgentsResponse](env.Clients(t,
			protocol, tenant.Read).HTTP, procedure, protocol.Options...)
		header := counted(func() http.Header {
			answer, err := client.CallUnary(t.Context(), connect.NewRequest(&parlancev1.ListAgentsRequest{WorkspaceId: tenant.WorkspaceID}))
			if err != nil {
				t.Fatalf("%s: %v", protocol.Name, err)
			}
			return answer.Header()
		})
		take(protocol.Name, header.Get("RateLimit-Limit"), header.Get("RateLimit-Remaining"), header.Get("RateLimit-Reset"))
	}
	header := counted(func() http.Header {
		return env.Do(t, "GET", tenant.In("/agents"), nil, harness.Key(tenant.Read)).Must(t, 200).Header
	})
	take("REST", header.Get("RateLimit-Limit"), header.Get("RateLimit-Remaining"), header.Get("RateLimit-Reset"))

	write := func() harness.Response {
		return env.Do(t, "POST", tenant.In("/agents"), `{"name":"a"}`, harness.Key(tenant.Operator))
	}
	for range 2 {
		write().Must(t, 201)
	}
	var refused harness.Response
	untilRefused(t, func() bool {
		refused = write()
		return refused.Status != http.StatusCreated
	})
	checkProblem(t, refused, 429, "rate-limited")
	wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 || refused.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("refused with %v", refused.Header)
	}
}

// TestUnknownKeys: an address that tries many keys that do not exist waits, without harm to keys
// that the server has accepted and to other addresses.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_UNKNOWN_KEYS_PER_MINUTE": "2", "PARLANCE_TRUSTED_PROXIES": "loopback",
	}})
	from := func(address, key string) harness.Response {
		return env.Do(t, "GET", "/v1/tenant", nil, harness.Key(key), harness.Header("X-Forwarded-For", address))
	}
	const attacker, neighbour, elsewhere = "2001:db8::1", "2001:db8::2", "198.51.100.7"
	exhaust := func() (refused harness.Response) {
		untilRefused(t, func() bool {
			refused = from(attacker, idgen.NewKey(rand.Reader))
			return refused.Status != http.StatusUnauthorized
		})
		return refused
	}
	env.Do(t, "GET", "/v1/tenant", nil).Must(t, 200)
	refused := exhaust()
	checkProblem(t, refused, 429, "rate-limited")
	if wait, err := strconv.Atoi(refused.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 30 {
		t.Errorf("Retry-After is %q", refused.Header.Get("Retry-After"))
	}
	checkProblem(t, from(attacker, "prl_garbage"), 401, "auth-invalid-key")
	from(attacker, env.Tenant.Admin).Must(t, 200)
	var id, secret string
	untilRefused(t, func() bool { // but for a query that the address gets back in this moment
		made := env.Do(t, "POST", "/v1/api-keys", `{"name":"new"}`).Must(t, 201)
		id, secret = made.Text("id"), made.Text("secret")
		exhaust()
		refused = from(neighbour, secret)
		return refused.Status != http.StatusOK
	})
	checkProblem(t, refused, 429, "rate-limited")
	from(elsewhere, secret).Must(t, 200)
	from(neighbour, secret).Must(t, 200)
	env.Do(t, "DELETE", "/v1/api-keys/"+id, nil).Must(t, 204)
	checkProblem(t, from(neighbour, secret), 401, "auth-invalid-key")
}
