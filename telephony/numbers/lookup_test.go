package numbers_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/test/fake/receiver"
)

// call is the call that tests look up.
func call() numbers.LookUpParams {
	return numbers.LookUpParams{CallID: idgen.New(idgen.PhoneCall), From: "+12015550123", To: "+4930123456"}
}

// asking makes a number with a look-up whose signatures the customer verifies.
func (f *fixture) asking() numbers.Number {
	f.t.Helper()
	p := f.params()
	p.LookupURL = f.customer.URL + "/callers?token=t-123456"
	made := f.create(p)
	f.customer.Expect(made.Secret.Reveal())
	return made.Number
}

// lookUp looks the call up while the customer answers with the body.
func (f *fixture) lookUp(n numbers.Number, body string) numbers.Answer {
	f.t.Helper()
	f.customer.Always(receiver.Answer{Body: body})
	answer, err := f.numbers.LookUp(f.t.Context(), n, call())
	if err != nil {
		f.t.Fatal(err)
	}
	return answer
}

// counted fails the test unless so many look-ups had the outcome.
func (f *fixture) counted(outcome, want string) {
	f.t.Helper()
	text := `
# HELP parlance_lookups_total Callers that customers were asked about, by outcome.
# TYPE parlance_lookups_total counter
parlance_lookups_total{outcome="` + outcome + `"} ` + want + "\n"
	if err := testutil.GatherAndCompare(f.metrics, strings.NewReader(text), "parlance_lookups_total"); err != nil {
		f.t.Error(err)
	}
}

func TestLookUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	number := f.asking()
	other := f.addAgent(f.ref)
	f.customer.Always(receiver.Answer{Body: `{"dynamic_variables": {"city": "Bonn", "secret__key": "k"}, "user_id": "u-1",
		"agent_id": "` + string(other) + `", "more": [1]}`})
	asked := call()
	got, err := f.numbers.LookUp(t.Context(), number, asked)
	want := numbers.Answer{AgentID: other, UserID: "u-1", DynamicVariables: map[string]string{"city": "Bonn", "secret__key": "k"}}
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("answer: %v, %s", err, diff)
	}
	request := f.customer.Requests()[0]
	if request.Err != nil || request.Method != "POST" || request.Path != "/callers" || request.Type != "call.lookup" ||
		request.EventID != asked.CallID {
		t.Errorf("request: %+v", request)
	}
	var body map[string]string
	if err := json.Unmarshal(request.Body, &body); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339Nano, body["created_at"])
	if err != nil || time.Since(at).Abs() > time.Hour {
		t.Errorf("created_at is %q", body["created_at"])
	}
	delete(body, "created_at")
	if diff := cmp.Diff(body, map[string]string{
		"type": "call.lookup", "call_id": asked.CallID, "workspace_id": string(f.ref.ID), "agent_id": string(f.agent),
		"phone_number_id": string(number.ID), "from": asked.From, "to": asked.To,
	}); diff != "" {
		t.Error(diff)
	}
	if number.DynamicVariables["city"] != "Berlin" || f.log.String() != "" {
		t.Errorf("the number has %v; logged: %s", number.DynamicVariables, f.log)
	}
	f.counted("accepted", "1")
}

func TestLookUpDefaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	number := f.create(f.params()).Number
	asked := call()
	got, err := f.numbers.LookUp(t.Context(), number, asked)
	want := numbers.Answer{AgentID: f.agent, UserID: asked.From, DynamicVariables: map[string]string{"city": "Berlin"}}
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("without a URL: %v, %s", err, diff)
	}
	got.DynamicVariables["city"] = "Bonn"
	if number.DynamicVariables["city"] != "Berlin" {
		t.Error("an answer shares the number's map")
	}
	asked.From = ""
	if got, err = f.numbers.LookUp(t.Context(), number, asked); err != nil || got.UserID != "anonymous:"+asked.CallID {
		t.Errorf("a hidden caller is %q, %v", got.UserID, err)
	}
	if len(f.customer.Requests()) != 0 {
		t.Error("somebody was asked")
	}
}

func TestLookUpRejects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := f.lookUp(f.asking(), `{"reject": true, "user_id": " "}`); !got.Reject || f.log.String() != "" {
		t.Errorf("answer: %+v; logged: %s", got, f.log)
	}
	f.counted("rejected", "1")
}

// TestLookUpGoesOn: the call is answered with the number's own values when the customer does not
// answer as agreed. The log has nothing of what was sent and answered.
func TestLookUpGoesOn(t *testing.T) {
	t.Parallel()
	answer := func(body string) receiver.Answer { return receiver.Answer{Body: body} }
	many := map[string]string{}
	for i := range 64 {
		many["v"+strings.Repeat("x", i)] = "a-secret"
	}
	tooMany, err := json.Marshal(map[string]any{"dynamic_variables": many}) // with the number's own they are 65
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		answer  receiver.Answer
		outcome string
	}{
		"created":         {receiver.Answer{Status: 201, Body: `{"user_id": "a-secret"}`}, "status"},
		"failed":          {receiver.Answer{Status: 500, Body: `{"user_id": "a-secret"}`}, "status"},
		"redirect":        {receiver.Answer{Status: 307, Header: map[string]string{"Location": "/elsewhere"}}, "status"},
		"reset":           {receiver.Answer{Reset: true}, "unreachable"},
		"empty":           {answer(``), "invalid"},
		"null":            {answer(`null`), "invalid"},
		"list":            {answer(`[{"user_id": "a-secret"}]`), "invalid"},
		"more behind":     {answer(`{"user_id": "a-secret"} {}`), "invalid"},
		"number":          {answer(`{"dynamic_variables": {"plan": 1}}`), "invalid"},
		"text":            {answer(`{"reject": "a-secret"}`), "invalid"},
		"too large":       {answer(`{"more": "` + strings.Repeat("x", 64<<10) + `"}`), "invalid"},
		"system":          {answer(`{"dynamic_variables": {"system__user_id": "a-secret"}}`), "invalid"},
		"bad name":        {answer(`{"dynamic_variables": {"a-secret": ""}}`), "invalid"},
		"long value":      {answer(`{"dynamic_variables": {"a": "` + strings.Repeat("x", 4097) + `"}}`), "invalid"},
		"too many":        {answer(string(tooMany)), "invalid"},
		"blank user":      {answer(`{"user_id": " "}`), "invalid"},
		"long user":       {answer(`{"user_id": "` + strings.Repeat("x", 257) + `"}`), "invalid"},
		"no agent":        {answer(`{"user_id": "a-secret", "agent_id": "a-secret"}`), "invalid"},
		"agent elsewhere": {answer(`{"agent_id": "` + idgen.New(idgen.Agent) + `"}`), "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			number := f.asking()
			f.customer.Always(row.answer)
			asked := call()
			got, err := f.numbers.LookUp(t.Context(), number, asked)
			want := numbers.Answer{AgentID: f.agent, UserID: asked.From, DynamicVariables: maps.Clone(number.DynamicVariables)}
			if diff := cmp.Diff(got, want); err != nil || diff != "" {
				t.Errorf("answer: %v, %s", err, diff)
			}
			if requests := f.customer.Requests(); len(requests) != 1 || requests[0].Err != nil {
				t.Errorf("requests: %+v", requests)
			}
			logged := f.log.String()
			for _, secret := range []string{"a-secret", "t-123456", asked.From, asked.To, "whsec_"} {
				if strings.Contains(logged, secret) {
					t.Errorf("logged %q: %s", secret, logged)
				}
			}
			if !strings.Contains(logged, string(number.ID)) || !strings.Contains(logged, "outcome="+row.outcome) {
				t.Errorf("logged: %s", logged)
			}
			f.counted(row.outcome, "1")
		})
	}
}

func TestLookUpTimesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *numbers.Deps) { d.LookUpTimeout = 50 * time.Millisecond })
	number := f.asking()
	f.customer.Always(receiver.Answer{Hold: make(chan struct{})})
	got, err := f.numbers.LookUp(t.Context(), number, call())
	if err != nil || got.AgentID != f.agent || got.DynamicVariables["city"] != "Berlin" {
		t.Errorf("answer: %+v, %v", got, err)
	}
	f.counted("timeout", "1")
}

// TestLookUpOfACallThatEnds: a caller who hangs up meanwhile gets no answer.
func TestLookUpOfACallThatEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	number := f.asking()
	f.customer.Always(receiver.Answer{Hold: make(chan struct{})})
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := f.numbers.LookUp(ctx, number, call())
		ended <- err
	}()
	f.customer.Await(t.Context(), t, 1)
	hangUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if f.log.String() != "" {
		t.Errorf("logged: %s", f.log)
	}
}
