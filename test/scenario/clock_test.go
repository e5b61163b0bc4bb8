package scenario

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/harness"
)

// TestWrongClocks: a node whose clock is off by minutes neither takes work that another node holds,
// nor holds its own for a time that others cannot see.
func TestWrongClocks(t *testing.T) {
	t.Parallel()
	keyFile := filepath.Join(t.TempDir(), "master.key")
	if err := seal.NewMasterKeyFile(keyFile); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"PARLANCE_MASTER_KEY_FILE": keyFile}
	right := harness.Start(t, harness.Options{WithoutWorker: true, Settings: settings})
	for name, ahead := range map[string]time.Duration{"Ahead": 10 * time.Minute, "Behind": -10 * time.Minute} {
		wrong := harness.Start(t, harness.Options{
			DatabaseURL: right.DatabaseURL, RedisURL: right.RedisURL, WithoutWorker: true, ClockAhead: ahead, Settings: settings,
		})
		for holder, nodes := range map[string][2]*harness.Env{"TheOtherHolds": {right, wrong}, "ItHolds": {wrong, right}} {
			t.Run(name+holder, func(t *testing.T) {
				t.Parallel()
				holdAndRepeat(t, right.Tenant, nodes[0], nodes[1])
			})
		}
	}
}

// holdAndRepeat makes a request on a node and, while it runs, the same one on another node.
func holdAndRepeat(t *testing.T, tenant harness.Tenant, holder, other *harness.Env) {
	var calls atomic.Int32
	begun, release := make(chan struct{}, 2), make(chan struct{})
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		begun <- struct{}{}
		<-release
	}))
	t.Cleanup(shop.Close)
	made := holder.Do(t, "POST", tenant.In("/tools"), map[string]any{
		"slug": "held_" + t.Name()[len("TestWrongClocks/"):], "description": "d", "kind": "http", "webhook_url": shop.URL,
	}, harness.Key(tenant.Operator)).Must(t, 201)
	key := harness.Header("Idempotency-Key", t.Name())
	run := func(node *harness.Env) (harness.Response, error) {
		return node.Send(t, "POST", tenant.In("/tools/"+made.Text("id")+"/run"), `{}`, harness.Key(tenant.Operator), key)
	}
	first := make(chan harness.Response, 1)
	go func() {
		answer, err := run(holder)
		if err != nil {
			t.Error(err)
		}
		first <- answer
	}()
	<-begun
	if wrong := harness.Rows[string](t, holder, `SELECT (lease_until - now())::text FROM idempotency_keys
		WHERE answer IS NULL AND lease_until NOT BETWEEN now() AND now() + interval '13 s'`); len(wrong) > 0 {
		t.Errorf("a claim is held for %v", wrong)
	}
	second, err := run(other)
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	checkProblem(t, second, 409, "idempotency-key-in-flight")
	if answer := <-first; answer.Status != 200 || calls.Load() != 1 {
		t.Errorf("%d calls; the first request got %d %s", calls.Load(), answer.Status, answer.Body)
	}
}
