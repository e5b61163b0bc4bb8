package scenario

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/test/harness"
)

// TestUsageToStripe: what a tenant uses is reported, once, although the worker is killed when
// Stripe has the first event and before that is written down, and two go on in its place.
func TestUsageToStripe(t *testing.T) {
	t.Parallel()
	s := &shop{stripe: fake.New(t)}
	s.Env = harness.Start(t, harness.Options{WithoutWorker: true, Settings: stripeSettings(t, s.stripe, map[string]string{
		"PARLANCE_STRIPE_METERS": "turns=parlance_turns, sessions=parlance_sessions",
	})})
	s.Do(t, "PATCH", "/v1/tenant", `{"stripe_customer_id":"cus_Metered"}`).Must(t, 200)
	agent := s.Do(t, "POST", s.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := s.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"}).Must(t, 201).Text("id")
	for range 2 {
		s.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`).Must(t, 200)
	}
	if err := s.App.Usage.Fold(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	stuck := s.stripe.Hold()
	first := s.StartProcess(t, "worker")
	<-stuck
	first.Kill()
	s.stripe.Release()
	if got := s.Do(t, "GET", "/v1/billing", nil).Must(t, 200); got.At("usage_reported_at") != nil {
		t.Errorf("nothing is written down yet: %s", got.Body)
	}
	s.Exec(t, "UPDATE billing_meter_events SET due_at = now()") // the lease of the first is over
	s.StartProcess(t, "worker")
	s.StartProcess(t, "worker")
	harness.Await(t, harness.Patience, "everything is reported", func() bool {
		return harness.Rows[int](t, s.Env, "SELECT count(*)::int FROM billing_meter_events")[0] == 0 &&
			harness.Rows[int](t, s.Env, "SELECT sum(reported)::int FROM billing_meters")[0] == 3
	})
	counted := map[string]int64{}
	for _, e := range s.stripe.MeterEvents() {
		counted[e.Customer+" "+e.Name] += e.Value
	}
	want := map[string]int64{"cus_Metered parlance_turns": 2, "cus_Metered parlance_sessions": 1}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Errorf("Stripe has counted (-want +got):\n%s", diff)
	}
	sent := map[string]int{}
	for _, call := range s.stripe.Calls() {
		sent[call.Form.Get("identifier")]++
	}
	if held := s.stripe.Calls()[0].Form.Get("identifier"); len(sent) != 2 || sent[held] != 2 {
		t.Errorf("the events were sent %v times, want the first twice", sent)
	}
	got := s.Do(t, "GET", "/v1/billing", nil, harness.Key(s.Tenant.Read)).Must(t, 200)
	if got.At("usage_reported_at") == nil || got.Text("usage_problem") != "" {
		t.Errorf("afterwards: %s", got.Body)
	}
}
