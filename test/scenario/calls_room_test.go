package scenario

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/test/harness"
)

// TestCallsWithoutRoom: while the plan has no room for another session, who calls hears the busy
// tone before anything is answered, and nobody is called.
func TestCallsWithoutRoom(t *testing.T) {
	t.Parallel()
	plans := filepath.Join(t.TempDir(), "plans.json")
	const one = `{"one":{"kb_storage_bytes":5,"kb_upload_bytes":5,"tools":true,"concurrent_sessions":1}}`
	if err := os.WriteFile(plans, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newCallWorld(t, harness.Options{Plan: "one", Settings: map[string]string{"PARLANCE_PLANS_FILE": plans}})
	w.Do(t, "POST", w.Tenant.In("/phone-numbers"), map[string]any{"phone_number": harness.SwitchboardFirst, "agent_id": w.agent}).Must(t, 201)
	open := w.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": w.agent, "user_id": "u", "modality": "text"}).Must(t, 201).Text("id")
	called := telephone(w.board, callee, (*phone).answer)
	id := w.callNow(t, "u")
	harness.Await(t, harness.Patience, "the callback to wait", func() bool { return w.callback(t, id).Text("waits_for") == "sessions_full" })
	if got := w.callback(t, id); got.Text("status") != "scheduled" || called.count(simulated.EventRing) != 0 {
		t.Errorf("it rang %d times: %s", called.count(simulated.EventRing), got.Body)
	}
	caller := telephone(w.board, colleague, nil)
	caller.Dial(harness.SwitchboardFirst)
	harness.Await(t, harness.Patience, "the busy tone", func() bool { return caller.count(simulated.EventHungUp) == 1 })
	call := w.call(t, colleague)
	if call.Text("status") != "busy" || call.Text("end_reason") != "quota-exceeded-sessions" || call.Text("answered_at") != "" ||
		call.Text("ended_at") == "" || call.At("pstn_minutes") != 0.0 || caller.count(simulated.EventAnswered) != 0 {
		t.Errorf("%s", call.Body)
	}
	w.Do(t, "POST", w.Tenant.In("/callbacks/"+id+"/cancel"), nil).Must(t, 200) // it would take the place
	w.Do(t, "POST", "/v1/sessions/"+open+"/end", map[string]any{"status": "completed"}).Must(t, 200)
	caller.Dial(harness.SwitchboardFirst)
	harness.Await(t, harness.Patience, "an answer", func() bool { return caller.count(simulated.EventAnswered) == 1 })
	caller.HangUp()
}

// TestBatchOfErasedUser: a batch whose only recipient is erased is over.
func TestBatchOfErasedUser(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	later := time.Now().AddDate(0, 0, 7).UTC().Format(time.RFC3339)
	batch := c.Do(t, "POST", c.in("/callback-batches"),
		c.plan(`"name":"Autumn","starts_at":"`+later+`","recipients":[{"phone_number":"+12015550124","user_id":"u"}]`)).Must(t, 201).Text("id")
	erasure := c.Do(t, "POST", c.in("/privacy/requests"), map[string]any{"user_id": "u", "kind": "erasure"}).Must(t, 201).Text("id")
	harness.Await(t, harness.Patience, "the erasure", func() bool {
		return c.Do(t, "GET", c.in("/privacy/requests/"+erasure), nil).Must(t, 200).Text("status") == "ready"
	})
	got := c.Do(t, "GET", c.in("/callback-batches/"+batch), nil).Must(t, 200)
	if got.Text("status") != "completed" || got.Text("ended_at") == "" {
		t.Errorf("%s", got.Body)
	}
}
