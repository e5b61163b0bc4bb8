package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/workspaces"
)

// TestGreedyCalls: a tenant whose endpoint does not answer keeps another's calls from nothing.
func TestGreedyCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	gate := fair.New(fair.Config{Name: "tool", Slots: 4, MaxWaiting: 20})
	shared := tools.New(tools.Deps{DB: f.db, Workspaces: f.workspaces, Agents: f.agents, Guard: guard, Gate: gate})
	entry := f.attached(t, f.create(t, f.orderParams("/order")), 0)
	slow := entry
	slow.Tool.Config.TimeoutSeconds = 120
	f.endpoint.Script("/order", httptool.Step{Hold: true})
	slow.Tool.Config.WebhookURL = f.endpoint.URL + "/order"
	other := f.tenant(t, "pro")
	quick := f.foreignEntry(t, other, "/quick")
	gate.Expect(string(f.ref.TenantID), string(other.TenantID))
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	call := func(ref workspaces.Ref, e tools.Entry) tools.Outcome {
		return shared.Call(
			ctx, tools.CallParams{Ref: ref, SessionID: "ses_1", TurnID: "turn_1", Entry: e, Arguments: json.RawMessage(`{"id":"7"}`)},
		)
	}
	var calls sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 30 {
		calls.Go(func() {
			if o := call(f.ref, slow); o.Error != nil && o.Error.Code == failure.Unavailable {
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for running, waiting := gate.Count(); running != 3 || waiting != 20; running, waiting = gate.Count() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("%d calls run and %d wait, want 3 and 20", running, waiting)
		}
	}
	for range 3 {
		if o := call(other, quick); o.Error != nil || !strings.Contains(o.OutputText, "/quick") {
			t.Errorf("the other tenant's call: %+v", o.Error)
		}
	}
	hangUp()
	calls.Wait()
	if refused != 7 {
		t.Errorf("%d calls refused, want those that no place was left for: 7", refused)
	}
}
