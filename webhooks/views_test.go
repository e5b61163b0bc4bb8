package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

// TestDeliveriesFiltered lists with each filter, with several, and by pages.
func TestDeliveriesFiltered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert", "dsar.ready")
	r.Script(receiver.Answer{Status: 500, Body: "out of order"})
	first := f.append(f.ref, events.FatigueAlert) // fails, then succeeds
	f.deliver(f.relay())
	f.clock.advance(time.Second)
	f.sweep()
	f.clock.advance(time.Second)
	middle := f.clock.now()
	second := f.append(f.ref, events.DSARReady)
	f.deliver(f.relay())
	list := func(filter webhooks.AttemptFilter, params postgres.PageParams) ([]webhooks.Attempt, string) {
		t.Helper()
		attempts, next, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint.ID, filter, params)
		if err != nil {
			t.Fatal(err)
		}
		return attempts, next
	}
	for name, row := range map[string]struct {
		filter webhooks.AttemptFilter
		want   []string // event and number, newest first
	}{
		"none":        {webhooks.AttemptFilter{}, []string{second + " 1", first + " 2", first + " 1"}},
		"failed":      {webhooks.AttemptFilter{Status: webhooks.AttemptFailed}, []string{first + " 1"}},
		"succeeded":   {webhooks.AttemptFilter{Status: webhooks.AttemptSucceeded}, []string{second + " 1", first + " 2"}},
		"pending":     {webhooks.AttemptFilter{Status: webhooks.AttemptPending}, nil},
		"unknown":     {webhooks.AttemptFilter{Status: webhooks.AttemptUnknown}, nil},
		"event":       {webhooks.AttemptFilter{Event: events.DSARReady}, []string{second + " 1"}},
		"event id":    {webhooks.AttemptFilter{EventID: first}, []string{first + " 2", first + " 1"}},
		"of no event": {webhooks.AttemptFilter{EventID: "evt_nonsense"}, nil},
		"after":       {webhooks.AttemptFilter{StartedAfter: middle}, []string{second + " 1"}},
		"before":      {webhooks.AttemptFilter{StartedBefore: middle}, []string{first + " 2", first + " 1"}},
		"together": {webhooks.AttemptFilter{
			Status: webhooks.AttemptSucceeded, Event: events.FatigueAlert,
			StartedBefore: middle,
		}, []string{first + " 2"}},
		"contradictory": {webhooks.AttemptFilter{EventID: second, Event: events.FatigueAlert}, nil},
	} {
		attempts, _ := list(row.filter, postgres.PageParams{})
		var got []string
		for _, a := range attempts {
			got = append(got, fmt.Sprintf("%s %d", a.EventID, a.Number))
		}
		if diff := cmp.Diff(got, row.want); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	failed, _ := list(webhooks.AttemptFilter{Status: webhooks.AttemptFailed}, postgres.PageParams{})
	if failed[0].ResponseBody != "out of order" || len(failed[0].RequestBody) == 0 {
		t.Errorf("a listed attempt lacks its bodies: %+v", failed[0])
	}
	bare, _ := list(webhooks.AttemptFilter{OmitBodies: true}, postgres.PageParams{})
	for _, a := range bare {
		if a.ResponseBody != "" || a.RequestBody != nil || a.EventID == "" {
			t.Errorf("without bodies: %+v", a)
		}
	}
	whole, err := f.hooks.Attempt(t.Context(), f.ref, endpoint.ID, failed[0].ID)
	if err != nil || cmp.Diff(whole, failed[0]) != "" {
		t.Errorf("one attempt: %v %s", err, cmp.Diff(whole, failed[0]))
	}

	page, next := list(webhooks.AttemptFilter{Status: webhooks.AttemptSucceeded}, postgres.PageParams{Size: 1})
	if len(page) != 1 || next == "" {
		t.Fatalf("first page: %d, %q", len(page), next)
	}
	rest, last := list(webhooks.AttemptFilter{Status: webhooks.AttemptSucceeded}, postgres.PageParams{Size: 1, Token: next})
	if len(rest) != 1 || rest[0].EventID != first || last != "" {
		t.Errorf("second page: %+v, %q", rest, last)
	}
	_, _, err = f.hooks.Deliveries(t.Context(), f.ref, endpoint.ID, webhooks.AttemptFilter{}, postgres.PageParams{Token: next})
	wantReason(t, err, fault.InvalidRequest)
}

// TestFilteredPageIsBounded shows that a page scans a bounded number of attempts, and that the next
// pages have the others.
func TestFilteredPageIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.MaxScanned = 2 })
	endpoint := f.endpoint(f.ref, receiver.New(t), "fatigue.alert", "dsar.ready")
	var wanted []string
	for i := range 7 { // the wanted are the third and the first, looked at last
		event := events.FatigueAlert
		if i == 0 || i == 2 {
			event = events.DSARReady
		}
		id := f.append(f.ref, event)
		f.deliver(f.relay())
		f.clock.advance(time.Second)
		if event == events.DSARReady {
			wanted = append([]string{id}, wanted...)
		}
	}
	for _, filter := range []webhooks.AttemptFilter{{Event: events.DSARReady}, {
		Event:  events.DSARReady,
		Status: webhooks.AttemptSucceeded,
	}, {Status: webhooks.AttemptPending}} {
		var got []string
		pages, token := 0, ""
		for pages == 0 || token != "" {
			attempts, next, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint.ID, filter, postgres.PageParams{Token: token})
			if err != nil || pages > 7 {
				t.Fatalf("page %d: %v", pages, err)
			}
			for _, a := range attempts {
				got = append(got, a.EventID)
			}
			pages, token = pages+1, next
		}
		want := wanted
		if filter.Event == "" {
			want = nil
		}
		if diff := cmp.Diff(got, want); diff != "" || pages != 4 {
			t.Errorf("%+v: %d pages, %s", filter, pages, diff)
		}
	}
}

func TestDeliveriesFilterIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	endpoint := f.endpoint(f.ref, receiver.New(t), "fatigue.alert")
	now := f.clock.now()
	for _, row := range []struct {
		filter webhooks.AttemptFilter
		reason fault.Reason
	}{
		{webhooks.AttemptFilter{Status: "done"}, fault.InvalidRequest},
		{webhooks.AttemptFilter{Event: "nonsense"}, fault.WebhookEventUnknown},
		{webhooks.AttemptFilter{StartedAfter: now, StartedBefore: now}, fault.InvalidRequest},
	} {
		_, _, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint.ID, row.filter, postgres.PageParams{})
		wantReason(t, err, row.reason)
	}
	other := f.tenant()
	_, _, err := f.hooks.Deliveries(t.Context(), other, endpoint.ID, webhooks.AttemptFilter{}, postgres.PageParams{})
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.hooks.Attempt(t.Context(), f.ref, endpoint.ID, "dlv_nonsense")
	wantReason(t, err, fault.ResourceNotFound)
}

// TestRecover shows that failed deliveries since a time are sent again, once, and no others.
func TestRecover(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert", "dsar.ready")
	r.Script(receiver.Answer{Status: 400}, receiver.Answer{Status: 400}, receiver.Answer{Status: 400}, receiver.Answer{Status: 500})
	old := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	f.clock.advance(time.Minute)
	since := f.clock.now()
	lost := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	unwanted := f.append(f.ref, events.DSARReady)
	f.deliver(f.relay())
	waiting := f.append(f.ref, events.FatigueAlert) // has pauses left
	f.deliver(f.relay())
	received := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	if _, err := f.hooks.Test(t.Context(), f.ref, endpoint.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.hooks.Update(t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Events: &[]string{"fatigue.alert"}}); err != nil {
		t.Fatal(err)
	}
	recover := func(from time.Time) webhooks.Recovered {
		t.Helper()
		done, err := f.hooks.Recover(t.Context(), f.ref, endpoint.ID, from)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if got := recover(since); got != (webhooks.Recovered{Deliveries: 1}) {
		t.Errorf("recovered %+v, want the one event that was given up since", got)
	}
	if got := recover(since); got != (webhooks.Recovered{}) {
		t.Errorf("recovered %+v although it is on its way", got)
	}
	// The first failure was final; now it has the schedule before it.
	before := len(r.Requests())
	r.Script(receiver.Answer{Status: 503})
	f.sweep()
	f.clock.advance(pauses[1])
	f.sweep()
	requests := r.Requests()[before:]
	inOrder(t, requests)
	if ids := timesSent(requests); ids[lost] != 2 || ids[old]+ids[unwanted]+ids[received] != 0 {
		t.Fatalf("sent: %v, want %s twice", ids, lost)
	}
	attempts, _, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint.ID, webhooks.AttemptFilter{EventID: lost}, postgres.PageParams{})
	if err != nil || len(attempts) != 3 || attempts[0].Number != 3 || attempts[0].Status != webhooks.AttemptSucceeded {
		t.Errorf("attempts: %+v, %v", attempts, err)
	}
	if got := recover(since); got != (webhooks.Recovered{}) {
		t.Errorf("recovered %+v although it was received", got)
	}
	if got := recover(since.Add(-2 * time.Hour)); got.Deliveries != 1 {
		t.Errorf("recovered %+v, want the old one", got)
	}
	f.clock.advance(time.Minute)
	f.sweep()
	seen := timesSent(r.Requests())
	for id, want := range map[string]int{old: 2, lost: 3, unwanted: 1, waiting: 2, received: 1} {
		if seen[id] != want {
			t.Errorf("%s came %d times, want %d", id, seen[id], want)
		}
	}
}

// timesSent counts requests by their event.
func timesSent(requests []receiver.Request) map[string]int {
	seen := map[string]int{}
	for _, request := range requests {
		seen[request.EventID]++
	}
	return seen
}

func TestRecoverIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	now := f.clock.now()
	for name, row := range map[string]struct {
		ref    workspaces.Ref
		since  time.Time
		reason fault.Reason
	}{
		"no time":      {f.ref, time.Time{}, fault.InvalidRequest},
		"the future":   {f.ref, now.Add(time.Second), fault.InvalidRequest},
		"other tenant": {f.tenant(), now, fault.ResourceNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.hooks.Recover(t.Context(), row.ref, endpoint.ID, row.since)
			wantReason(t, err, row.reason)
		})
	}
	r.Always(receiver.Answer{Status: 410})
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	_, err := f.hooks.Recover(t.Context(), f.ref, endpoint.ID, now)
	wantReason(t, err, fault.Conflict)
}

// TestHealth reads the numbers of the last 24 h, without tests, and the progress to being disabled.
func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.DisableFailures = 4 })
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	r.Expect() // the clock goes on too far for its time window
	health := func() webhooks.Health {
		t.Helper()
		h, err := f.hooks.Health(t.Context(), f.ref, endpoint.ID)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	send := func() {
		f.append(f.ref, events.FatigueAlert)
		f.deliver(f.relay())
	}
	if h := health(); h.Attempts != 0 || h.P95MS != 0 || h.State != webhooks.HealthOK || h.Progress != 0 ||
		h.DisableFailures != 4 || !h.Since.Equal(f.clock.now().Add(-24*time.Hour)) {
		t.Errorf("at first: %+v", h)
	}
	send()
	f.clock.advance(25 * time.Hour) // out of the window
	r.Script(receiver.Answer{}, receiver.Answer{Status: 400}, receiver.Answer{Status: 500}, receiver.Answer{})
	send()
	succeeded := f.clock.now()
	send()
	if h := health(); h.State != webhooks.HealthOK {
		t.Errorf("after one failure of four: %+v", h.Outlook)
	}
	send()
	if _, err := f.hooks.Test(t.Context(), f.ref, endpoint.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.ExecContext(t.Context(),
		`
UPDATE webhook_attempts
SET duration_ms = 100 * code
FROM (VALUES (200, 1), (400, 2), (500, 3)) AS v (status, code)
WHERE v.status = status_code`); err != nil {
		t.Fatal(err)
	}
	h := health()
	if h.Attempts != 3 || h.Succeeded != 1 || h.Pending != 1 || h.Failed != 1 || h.P50MS != 200 || h.P95MS != 290 {
		t.Errorf("numbers: %+v", h)
	}
	if h.Progress != 0 || h.State != webhooks.HealthWarning || !h.NotBefore.Equal(succeeded.Add(7*24*time.Hour)) {
		t.Errorf("half of the failures, a moment after a success: %+v", h.Outlook)
	}
	f.clock.advance(4 * 24 * time.Hour) // half of four failures, more than half of a week
	if h := health(); h.Progress != 0.5 || h.State != webhooks.HealthWarning {
		t.Errorf("half-way: %+v", h.Outlook)
	}
	r.Always(receiver.Answer{Status: 410})
	send()
	if h := health(); h.Progress != 1 || h.State != webhooks.HealthDisabled || !h.NotBefore.IsZero() {
		t.Errorf("disabled: %+v", h.Outlook)
	}
	_, err := f.hooks.Health(t.Context(), f.tenant(), endpoint.ID)
	wantReason(t, err, fault.ResourceNotFound)
}
