package scenario

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
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
