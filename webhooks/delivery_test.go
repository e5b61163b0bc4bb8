package webhooks_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

func sum(key, message []byte) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write(message)
	return hash.Sum(nil)
}

func TestDeliverSigns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	minted, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: r.URL + "/hook?x=1", Events: []string{"kb.source_ingested"}})
	if err != nil {
		t.Fatal(err)
	}
	eventID := f.append(f.ref, events.KBSourceIngested)
	if got := f.deliver(f.relay()); got != 1 {
		t.Fatalf("attempts made: %d, want 1", got)
	}
	requests := r.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests came, want 1", len(requests))
	}
	got := requests[0]
	timestamp := got.Header.Get("Webhook-Timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(minted.Secret.Reveal(), "whsec_"))
	if err != nil || len(key) != 32 {
		t.Fatalf("the secret holds %d bytes, %v; want 32", len(key), err)
	}
	want := map[string]string{
		"X-Parlance-Signature": "sha256=" + hex.EncodeToString(sum([]byte(minted.Secret.Reveal()), got.Body)),
		"Webhook-Signature":    "v1," + base64.StdEncoding.EncodeToString(sum(key, []byte(eventID+"."+timestamp+"."+string(got.Body)))),
		"X-Parlance-Event":     "kb.source_ingested", "X-Parlance-Event-Id": eventID, "Webhook-Id": eventID,
		"X-Parlance-Timestamp": timestamp, "Content-Type": "application/json",
	}
	for name, value := range want {
		if got.Header.Get(name) != value {
			t.Errorf("%s: got %q, want %q", name, got.Header.Get(name), value)
		}
	}
	if got.Method != http.MethodPost || got.Path != "/hook" {
		t.Errorf("got %s %s, want POST /hook", got.Method, got.Path)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatal(err)
	}
	if string(body["event_id"]) != `"`+eventID+`"` || string(body["workspace_id"]) != `"`+string(f.ref.ID)+`"` ||
		!bytes.Contains(body["data"], []byte(`"source_id":"src_`)) {
		t.Errorf("body: %s", got.Body)
	}
	attempts := f.attempts(minted.ID)
	if len(attempts) != 1 {
		t.Fatalf("%d attempts, want 1", len(attempts))
	}
	a := attempts[0]
	if a.Status != webhooks.AttemptSucceeded || a.StatusCode != 200 || a.Number != 1 || a.EventID != eventID || a.Error != "" ||
		!a.NextAttemptAt.IsZero() {
		t.Errorf("attempt: %+v", a)
	}
	if !bytes.Equal(a.RequestBody, got.Body) || a.RequestHeaders["Webhook-Id"] != eventID {
		t.Errorf("the attempt does not show what was sent: %s %v", a.RequestBody, a.RequestHeaders)
	}
	f.clock.advance(time.Hour)
	if f.sweep() != 0 || len(r.Requests()) != 1 {
		t.Error("what was received was sent again")
	}
}

func TestDeliverRetries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	r.Script(receiver.Answer{Status: 500, Body: strings.Repeat("x", 5000)}, receiver.Answer{
		Status: 429,
		Header: map[string]string{"Retry-After": "30"},
	}, receiver.Answer{Reset: true})
	eventID := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	// The pauses of the schedule, but for the one that Retry-After makes longer.
	for i, pause := range []time.Duration{time.Second, 30 * time.Second, 4 * time.Second} {
		f.clock.advance(pause - 50*time.Millisecond)
		if f.sweep() != 0 {
			t.Errorf("attempt %d was made too early", i+2)
		}
		f.clock.advance(50 * time.Millisecond)
		if f.sweep() != 1 {
			t.Errorf("attempt %d was not made in time", i+2)
		}
	}
	requests := r.Requests()
	inOrder(t, requests)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	want := []struct {
		status webhooks.AttemptStatus
		code   int
	}{{webhooks.AttemptFailed, 500}, {webhooks.AttemptFailed, 429}, {webhooks.AttemptFailed, 0}, {webhooks.AttemptSucceeded, 200}}
	attempts := f.attempts(endpoint.ID)
	for i, a := range attempts {
		if a.Number != i+1 || a.Status != want[i].status || a.StatusCode != want[i].code || a.EventID != eventID ||
			requests[i].EventID != eventID {
			t.Errorf("attempt %d: %s %d of %s", a.Number, a.Status, a.StatusCode, a.EventID)
		}
		if (a.Error != "") != (a.Status == webhooks.AttemptFailed) {
			t.Errorf("attempt %d: error %q", a.Number, a.Error)
		}
	}
	if len(attempts) != 4 || len(attempts[0].ResponseBody) != 4096 {
		t.Fatalf("%d attempts, %d characters of the answer; want 4, 4096", len(attempts), len(attempts[0].ResponseBody))
	}
	if got := f.get(endpoint.ID); got.ConsecutiveFailures != 0 || got.LastSuccessAt.IsZero() || got.LastFailureAt.IsZero() {
		t.Errorf("endpoint: %+v", got)
	}
}

func TestDeliverGivesUpAfterTheSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	r.Always(receiver.Answer{Status: 503})
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	for range 10 {
		f.clock.advance(10 * time.Second)
		f.sweep()
		for i, a := range f.attempts(endpoint.ID) { // only the last says when there will be another
			if last := i == len(f.attempts(endpoint.ID))-1 && i < len(pauses)-1; a.NextAttemptAt.IsZero() == last {
				t.Errorf("attempt %d: the next is due at %v, now it is %v", a.Number, a.NextAttemptAt, f.clock.now())
			}
		}
	}
	attempts := f.attempts(endpoint.ID)
	if len(attempts) != len(pauses) || !attempts[len(attempts)-1].NextAttemptAt.IsZero() {
		t.Errorf("%d attempts, the next at %v; want %d and none", len(attempts), attempts[len(attempts)-1].NextAttemptAt, len(pauses))
	}
}

func TestDeliverFinalAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := receiver.New(t)
	for _, answer := range []receiver.Answer{
		{Status: 302, Header: map[string]string{"Location": elsewhere.URL}},
		{Status: 307, Header: map[string]string{"Location": elsewhere.URL}},
		{Status: 400},
		{Status: 404},
	} {
		t.Run(fmt.Sprint(answer.Status), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			r := receiver.New(t)
			endpoint := f.endpoint(f.ref, r, "fatigue.alert")
			r.Always(answer)
			f.append(f.ref, events.FatigueAlert)
			f.deliver(f.relay())
			f.clock.advance(time.Minute)
			f.sweep()
			attempts := f.attempts(endpoint.ID)
			if len(attempts) != 1 || attempts[0].Status != webhooks.AttemptFailed || attempts[0].StatusCode != answer.Status {
				t.Errorf("attempts: %+v", attempts)
			}
			if got := f.get(endpoint.ID).ConsecutiveFailures; got != 1 {
				t.Errorf("failures: %d, want 1", got)
			}
			if len(elsewhere.Requests()) != 0 {
				t.Error("the redirect was followed")
			}
		})
	}
}

func TestDeliverGoneDisables(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	gone, other := receiver.New(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, gone, "fatigue.alert", "webhook.disabled")
	watching := f.endpoint(f.ref, other, "webhook.disabled")
	gone.Always(receiver.Answer{Status: 410})
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	if got := f.get(endpoint.ID); got.Status != webhooks.Disabled || got.DisabledReason != webhooks.ReasonGone {
		t.Errorf("endpoint: %s %q", got.Status, got.DisabledReason)
	}
	// Enabled again before the relay gets to it: it still is not told of itself.
	if _, err := f.hooks.Enable(t.Context(), f.ref, endpoint.ID, time.Time{}); err != nil {
		t.Fatal(err)
	}
	f.deliver(f.relay())
	if len(gone.Requests()) != 1 {
		t.Errorf("%d requests to the endpoint that is gone, want 1", len(gone.Requests()))
	}
	requests := other.Requests()
	inOrder(t, requests)
	if len(requests) != 1 || requests[0].Type != "webhook.disabled" || !bytes.Contains(requests[0].Body, []byte(endpoint.ID)) ||
		!bytes.Contains(requests[0].Body, []byte(`"reason":"gone"`)) {
		t.Errorf("the other endpoint got %+v", requests)
	}
	if got := len(f.attempts(watching.ID)); got != 1 {
		t.Errorf("%d attempts, want 1", got)
	}
}

// fail makes n failed attempts, one for each of n events.
func (f *fixture) fail(r *receiver.Receiver, n int) {
	f.t.Helper()
	r.Always(receiver.Answer{Status: 404})
	for range n {
		f.append(f.ref, events.FatigueAlert)
	}
	f.deliver(f.relay())
}

func TestDeliverDisablesAfterFailures(t *testing.T) {
	t.Parallel()
	young := func(d *webhooks.Deps) { d.Policy.DisableMinAge, d.Policy.DisableWindow = time.Minute, 2*time.Minute }
	t.Run("NeverSucceeded", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, young)
		r, other := receiver.New(t), receiver.New(t)
		endpoint := f.endpoint(f.ref, r, "fatigue.alert")
		f.endpoint(f.ref, other, "webhook.disabled")
		f.fail(r, 12)
		if got := f.get(endpoint.ID); got.Status != webhooks.Enabled || got.ConsecutiveFailures != 12 {
			t.Fatalf("a young endpoint is %s after %d failures", got.Status, got.ConsecutiveFailures)
		}
		f.clock.advance(61 * time.Second)
		f.fail(r, 3)
		if got := f.get(endpoint.ID); got.Status != webhooks.Disabled || got.DisabledReason != webhooks.ReasonFailures {
			t.Errorf("endpoint: %s %q", got.Status, got.DisabledReason)
		}
		f.fail(r, 3)
		f.deliver(f.relay())
		if len(other.Requests()) != 1 {
			t.Errorf("webhook.disabled came %d times, want once", len(other.Requests()))
		}
		if len(r.Requests()) != 15 {
			t.Errorf("%d requests, want 15: none after it was disabled", len(r.Requests()))
		}
	})
	t.Run("SuccessNotLongAgo", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, young)
		r := receiver.New(t)
		endpoint := f.endpoint(f.ref, r, "fatigue.alert")
		f.append(f.ref, events.FatigueAlert)
		f.deliver(f.relay())
		f.clock.advance(119 * time.Second)
		f.fail(r, 12)
		if got := f.get(endpoint.ID); got.Status != webhooks.Enabled {
			t.Error("disabled although it succeeded not long ago")
		}
		f.clock.advance(2 * time.Second)
		f.fail(r, 1)
		if got := f.get(endpoint.ID); got.Status != webhooks.Disabled {
			t.Error("not disabled after the window")
		}
	})
	t.Run("FewFailures", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, young)
		r := receiver.New(t)
		endpoint := f.endpoint(f.ref, r, "fatigue.alert")
		f.clock.advance(2 * time.Minute)
		f.fail(r, 9)
		if got := f.get(endpoint.ID); got.Status != webhooks.Enabled {
			t.Error("disabled after 9 failures")
		}
	})
}

func TestDeliverTimesOutAndOpensTheBreaker(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.Timeout = 5 * time.Second }) // the others have to be quicker
	r, other := receiver.New(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	f.endpoint(f.ref, other, "fatigue.alert")
	r.Always(receiver.Answer{Hold: make(chan struct{})})
	for range 5 {
		f.append(f.ref, events.FatigueAlert)
	}
	f.deliver(f.relay())
	attempts := f.attempts(endpoint.ID)
	if len(attempts) != 5 || attempts[0].StatusCode != 0 || attempts[0].Error != "The endpoint did not answer in time." {
		t.Fatalf("attempts: %+v", attempts)
	}
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	if got := len(f.attempts(endpoint.ID)); got != 5 {
		t.Errorf("%d attempts, want 5 while the breaker is open", got)
	}
	if len(other.Requests()) != 6 {
		t.Errorf("the other endpoint got %d, want 6", len(other.Requests()))
	}
	f.clock.advance(30 * time.Second)
	if n := f.sweep(); n != 1 {
		t.Errorf("%d attempts after the breaker's pause, want one that tries", n)
	}
	if n := f.sweep(); n != 0 {
		t.Errorf("%d attempts although the one that tried was not answered", n)
	}
	r.Always(receiver.Answer{})
	f.clock.advance(30 * time.Second)
	if f.sweep() != 6 {
		t.Error("nothing was sent after the breaker's pause")
	}
}

func TestDeliverChecksTheAddressAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	strict, err := publicnet.New(publicnet.Options{CAFile: f.caFile})
	if err != nil {
		t.Fatal(err)
	}
	f.hooks = f.service(func(d *webhooks.Deps) { d.Guard = strict })
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	attempts := f.attempts(endpoint.ID)
	if len(attempts) != 1 || attempts[0].Error != "The host does not resolve to a public address." || len(r.Requests()) != 0 {
		t.Errorf("%d requests, attempts %+v", len(r.Requests()), attempts)
	}
}

func TestDeliverAfterCrash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	r.Script(receiver.Answer{Hold: make(chan struct{})})
	eventID := f.append(f.ref, events.FatigueAlert)
	batch := webhooks.Batches(f.relay())[0]
	dying, die := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { _, _ = f.hooks.Deliver(dying, batch) })
	r.Await(t.Context(), t, 1)
	began := f.clock.now()
	die()
	group.Wait()
	if got := f.attempts(endpoint.ID); len(got) != 0 {
		t.Fatalf("attempts that have not ended: %+v", got)
	}
	f.clock.advance(20 * time.Second)
	if f.sweep() != 0 {
		t.Error("sent again while the lease lasts")
	}
	f.clock.advance(11 * time.Second)
	if f.sweep() != 1 {
		t.Error("not sent again after the lease")
	}
	got := f.attempts(endpoint.ID)
	if len(got) != 2 || got[0].Status != webhooks.AttemptUnknown || !idgen.Valid(idgen.Delivery, string(got[0].ID)) ||
		!got[0].StartedAt.Equal(began) || got[1].Status != webhooks.AttemptSucceeded || got[1].Number != 2 || got[1].EventID != eventID {
		t.Errorf("attempts: %+v", got)
	}
	for _, request := range r.Requests() {
		if request.EventID != eventID {
			t.Errorf("event %s, want %s", request.EventID, eventID)
		}
	}
}

func TestDeliverOnceFromTwoWorkers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	for range 60 {
		f.append(f.ref, events.FatigueAlert)
	}
	due := f.relay()
	if again := f.relay(); len(due) != 60 || len(again) != 0 {
		t.Fatalf("%d deliveries and then %d, want 60 and 0", len(due), len(again))
	}
	var group sync.WaitGroup
	for _, service := range []*webhooks.Service{f.hooks, f.service()} {
		for _, batch := range webhooks.Batches(due) {
			group.Go(func() {
				if _, err := service.Deliver(t.Context(), batch); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	inOrder(t, r.Requests())
	seen := map[string]int{}
	for _, request := range r.Requests() {
		seen[request.EventID]++
	}
	if len(seen) != 60 || len(r.Requests()) != 60 {
		t.Errorf("%d requests for %d events, want 60 for 60", len(r.Requests()), len(seen))
	}
}

// TestDeliverWhileAnotherDoes shows that no worker sends what another is sending.
func TestDeliverWhileAnotherDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold})
	for range 3 {
		f.append(f.ref, events.FatigueAlert)
	}
	batch := webhooks.Batches(f.relay())[0]
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := f.hooks.Deliver(t.Context(), batch); err != nil {
			t.Error(err)
		}
	})
	r.Await(t.Context(), t, 3)
	tally, err := f.service().Deliver(t.Context(), batch)
	if err != nil || len(tally) != 0 {
		t.Errorf("another worker made the attempts %v, %v; want none", tally, err)
	}
	close(hold)
	group.Wait()
	if got := len(r.Requests()); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}
