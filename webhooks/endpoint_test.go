package webhooks_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

func wantReason(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != reason {
		t.Errorf("got the reason %q (%v), want %q", got, err, reason)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	strict, err := publicnet.New(publicnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.hooks = f.service(func(d *webhooks.Deps) { d.Guard = strict })
	for name, one := range map[string]struct {
		params webhooks.CreateParams
		want   fault.Reason
	}{
		"Empty":               {webhooks.CreateParams{}, fault.InvalidRequest},
		"HTTP":                {webhooks.CreateParams{URL: "http://example.com/"}, fault.WebhookURLNotHTTPS},
		"SchemeBeforeEvents":  {webhooks.CreateParams{URL: "http://127.0.0.1/", Events: []string{"nonsense"}}, fault.WebhookURLNotHTTPS},
		"EventsBeforeAddress": {webhooks.CreateParams{URL: "https://127.0.0.1/", Events: []string{"nonsense"}}, fault.WebhookEventUnknown},
		"InternalEvent": {
			webhooks.CreateParams{URL: "https://127.0.0.1/", Events: []string{"_source.queued"}},
			fault.WebhookEventUnknown,
		},
		"Loopback":     {webhooks.CreateParams{URL: "https://127.0.0.1/"}, fault.WebhookURLNotPublic},
		"Localhost":    {webhooks.CreateParams{URL: "https://localhost/"}, fault.WebhookURLNotPublic},
		"LinkLocal":    {webhooks.CreateParams{URL: "https://169.254.169.254/"}, fault.WebhookURLNotPublic},
		"Private":      {webhooks.CreateParams{URL: "https://[fd00::1]/"}, fault.WebhookURLNotPublic},
		"Unresolvable": {webhooks.CreateParams{URL: "https://no-such-host.invalid/"}, fault.WebhookURLUnresolvable},
		"Spaces":       {webhooks.CreateParams{URL: " https://example.com/"}, fault.InvalidRequest},
		"Port":         {webhooks.CreateParams{URL: "https://example.com:99999/"}, fault.InvalidRequest},
		"UserName":     {webhooks.CreateParams{URL: "https://me:you@example.com/"}, fault.InvalidRequest},
		"DescriptionBeforeLookup": {
			webhooks.CreateParams{URL: "https://example.com/", Description: strings.Repeat("x", 501)},
			fault.InvalidRequest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := f.hooks.Create(t.Context(), f.ref, one.params)
			wantReason(t, err, one.want)
			if home := one.want == fault.WebhookURLNotPublic ||
				one.want == fault.WebhookURLNotHTTPS; home != strings.Contains(err.Error(), "parlance listen") {
				t.Errorf("who has no public URL is told of parlance listen, and nobody else: %v", err)
			}
			if one.want == fault.WebhookEventUnknown && !strings.Contains(err.Error(), "post_call_transcription, subscription.changed") {
				t.Errorf("the known events are not listed: %v", err)
			}
		})
	}
}

// TestEndpointsAreCounted creates endpoints at the same moment; their number stays bounded.
func TestEndpointsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.MaxEndpoints = 3 })
	r := receiver.New(t)
	first := f.endpoint(f.ref, r)
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() {
			_, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: r.URL})
			errs <- err
		}()
	}
	refused := 0
	for range cap(errs) {
		if err := <-errs; err != nil {
			refused++
			wantReason(t, err, fault.WebhookEndpointsFull)
		}
	}
	if n := f.number("SELECT count(*) FROM webhook_endpoints"); n != 3 || refused != cap(errs)-2 {
		t.Errorf("%d endpoints, %d refusals", n, refused)
	}
	f.endpoint(f.tenant(), r)
	if err := f.hooks.Delete(t.Context(), f.ref, first.ID); err != nil {
		t.Fatal(err)
	}
	f.endpoint(f.ref, r)
}

func TestEndpointLifecycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	url := receiver.New(t).URL
	minted, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{
		URL: url, Events: []string{"invoice.paid", "fatigue.alert", "invoice.paid"}, Description: "mine",
	})
	if err != nil {
		t.Fatal(err)
	}
	if secret := minted.Secret.Reveal(); !strings.HasPrefix(secret, "whsec_") || len(secret) != 6+44 ||
		minted.SecretHint != secret[len(secret)-4:] {
		t.Errorf("secret of %d characters, hint %q", len(secret), minted.SecretHint)
	}
	if diff := cmp.Diff(minted.Events, []events.Type{"invoice.paid", "fatigue.alert"}); diff != "" {
		t.Error(diff)
	}
	stored := f.get(minted.ID)
	if bytes.Contains(stored.SealedSecret, []byte(minted.Secret.Reveal())) {
		t.Error("the secret is stored in the clear")
	}
	if diff := cmp.Diff(stored, minted.Endpoint); diff != "" {
		t.Errorf("stored and returned differ: %s", diff)
	}
	f.clock.advance(time.Second)
	none, text := []string{}, "yours"
	updated, err := f.hooks.Update(t.Context(), f.ref, minted.ID, webhooks.UpdateParams{Events: &none, Description: &text})
	if err != nil || len(updated.Events) != 0 || updated.Description != "yours" || updated.URL != url ||
		!updated.UpdatedAt.After(minted.UpdatedAt) {
		t.Errorf("updated: %+v, %v", updated, err)
	}
	bad := "http://example.com"
	_, err = f.hooks.Update(t.Context(), f.ref, minted.ID, webhooks.UpdateParams{URL: &bad})
	wantReason(t, err, fault.WebhookURLNotHTTPS)
	f.clock.advance(time.Second)
	second := f.endpoint(f.ref, receiver.New(t))
	list, next, err := f.hooks.List(t.Context(), f.ref, postgres.PageParams{Size: 1})
	if err != nil || len(list) != 1 || list[0].ID != second.ID {
		t.Fatalf("first page: %+v, %v", list, err)
	}
	list, next, err = f.hooks.List(t.Context(), f.ref, postgres.PageParams{Size: 1, Token: next})
	if err != nil || len(list) != 1 || list[0].ID != minted.ID || next != "" {
		t.Errorf("second page: %+v, %q, %v", list, next, err)
	}
	for range 2 {
		if err := f.hooks.Delete(t.Context(), f.ref, minted.ID); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	_, err = f.hooks.Get(t.Context(), f.ref, minted.ID)
	wantReason(t, err, fault.ResourceNotFound)
}

func TestOtherTenantsEndpointIsNotFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stranger := f.tenant()
	endpoint := f.endpoint(f.ref, receiver.New(t), "fatigue.alert")
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	attempt := f.attempts(endpoint.ID)[0]
	ctx, text := t.Context(), "x"
	for name, call := range map[string]func(ref workspaces.Ref, id webhooks.EndpointID) error{
		"Get": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.Get(ctx, ref, id)
			return err
		},
		"Update": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.Update(ctx, ref, id, webhooks.UpdateParams{Description: &text})
			return err
		},
		"Delete": func(ref workspaces.Ref, id webhooks.EndpointID) error { return f.hooks.Delete(ctx, ref, id) },
		"Enable": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.Enable(ctx, ref, id, time.Time{})
			return err
		},
		"Rotate": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.RotateSecret(ctx, ref, id)
			return err
		},
		"Test": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.Test(ctx, ref, id, "")
			return err
		},
		"Deliveries": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, _, err := f.hooks.Deliveries(ctx, ref, id, webhooks.AttemptFilter{}, postgres.PageParams{})
			return err
		},
		"Redeliver": func(ref workspaces.Ref, id webhooks.EndpointID) error {
			_, err := f.hooks.Redeliver(ctx, ref, id, attempt.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantReason(t, call(stranger, endpoint.ID), fault.ResourceNotFound)
			wantReason(t, call(workspaces.Ref{TenantID: f.ref.TenantID, ID: stranger.ID}, endpoint.ID), fault.ResourceNotFound)
			wantReason(t, call(f.ref, webhooks.EndpointID(idgen.New(idgen.Endpoint))), fault.ResourceNotFound)
			wantReason(t, call(f.ref, "nonsense"), fault.ResourceNotFound)
		})
	}
	if got := f.get(endpoint.ID); got.Description != "" || got.SecretHint != endpoint.SecretHint {
		t.Error("a stranger changed the endpoint")
	}
}

func TestRotateSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	first, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: r.URL, Events: []string{"fatigue.alert"}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.hooks.RotateSecret(t.Context(), f.ref, first.ID)
	if err != nil || second.Secret == first.Secret || second.SecretHint == first.SecretHint {
		t.Fatalf("rotated: %v", err)
	}
	r.Expect(second.Secret.Reveal(), first.Secret.Reveal()) // X-Parlance-Signature by the new one, webhook-signature by both
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	inOrder(t, r.Requests())
	f.clock.advance(webhooks.RotationOverlap)
	f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	requests := r.Requests()
	if got := len(strings.Fields(requests[0].Header.Get("Webhook-Signature"))); got != 2 {
		t.Errorf("%d signatures during the overlap, want 2", got)
	}
	if got := len(strings.Fields(requests[1].Header.Get("Webhook-Signature"))); got != 1 {
		t.Errorf("%d signatures after the overlap, want 1", got)
	}
}

// TestRotateWithinOverlap rotates until no more secrets may overlap. Each one signs for its time.
func TestRotateWithinOverlap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	minted, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: r.URL, Events: []string{"fatigue.alert"}})
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{minted.Secret.Reveal()}
	rotate := func() {
		t.Helper()
		next, err := f.hooks.RotateSecret(t.Context(), f.ref, minted.ID)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append([]string{next.Secret.Reveal()}, secrets...)
	}
	signedBy := func(want []string) {
		t.Helper()
		f.append(f.ref, events.FatigueAlert)
		f.deliver(f.relay())
		requests := r.Requests()
		last := requests[len(requests)-1]
		for i, secret := range want {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := verifier.VerifyIgnoringTimestamp(last.Body, last.Header); err != nil {
				t.Errorf("the secret before %d rotations does not sign: %v", i, err)
			}
		}
		if got := len(strings.Fields(last.Header.Get("Webhook-Signature"))); got != len(want) {
			t.Errorf("%d signatures, want %d", got, len(want))
		}
	}
	for range webhooks.MaxRotations {
		rotate()
		f.clock.advance(time.Second)
	}
	signedBy(secrets)
	_, err = f.hooks.RotateSecret(t.Context(), f.ref, minted.ID)
	wantReason(t, err, fault.RateLimitedReason)
	refused, ok := errors.AsType[*fault.Error](err)
	if want := webhooks.RotationOverlap - webhooks.MaxRotations*time.Second; !ok || refused.RetryAfter != want {
		t.Errorf("rotated once more: %v, want to be asked again after %s", err, want)
	}
	f.clock.advance(refused.RetryAfter)
	signedBy(secrets[:webhooks.MaxRotations])
	rotate()
	signedBy(secrets[:webhooks.MaxRotations+1])
	f.clock.advance(webhooks.RotationOverlap)
	signedBy(secrets[:1])
}

// TestHeld shows that pending deliveries wait while the endpoint does not want them.
func TestHeld(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		away, back func(f *fixture, id webhooks.EndpointID) error
	}{
		"Unsubscribed": {
			away: func(f *fixture, id webhooks.EndpointID) error {
				_, err := f.hooks.Update(f.t.Context(), f.ref, id, webhooks.UpdateParams{Events: &[]string{}})
				return err
			},
			back: func(f *fixture, id webhooks.EndpointID) error {
				_, err := f.hooks.Update(f.t.Context(), f.ref, id, webhooks.UpdateParams{Events: &[]string{"fatigue.alert"}})
				return err
			},
		},
		"Disabled": {
			away: func(f *fixture, id webhooks.EndpointID) error {
				f.append(f.ref, events.InvoicePaid)
				f.deliver(f.relay()) // is answered 410
				return nil
			},
			back: func(f *fixture, id webhooks.EndpointID) error {
				_, err := f.hooks.Enable(f.t.Context(), f.ref, id, time.Time{})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			r := receiver.New(t)
			endpoint := f.endpoint(f.ref, r, "fatigue.alert", "invoice.paid")
			r.Script(receiver.Answer{Status: 500}, receiver.Answer{Status: 410})
			eventID := f.append(f.ref, events.FatigueAlert)
			f.deliver(f.relay())
			if err := change.away(f, endpoint.ID); err != nil {
				t.Fatal(err)
			}
			before := len(r.Requests())
			f.clock.advance(time.Minute)
			if f.sweep() != 0 {
				t.Error("sent while it is unwanted")
			}
			r.Script()
			if err := change.back(f, endpoint.ID); err != nil {
				t.Fatal(err)
			}
			if f.sweep() != 1 {
				t.Error("not sent when it is wanted again")
			}
			requests := r.Requests()
			inOrder(t, requests)
			if len(requests) != before+1 || requests[before].EventID != eventID {
				t.Errorf("%d requests, want %d", len(requests), before+1)
			}
		})
	}
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	eventID := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	f.clock.advance(time.Second)
	first := f.attempts(endpoint.ID)[0]
	again, err := f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, first.ID)
	if err != nil || again.Number != 2 || again.Status != webhooks.AttemptPending || again.EventID != eventID ||
		!bytes.Equal(again.RequestBody, first.RequestBody) {
		t.Fatalf("redelivery: %+v, %v", again, err)
	}
	same, err := f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, first.ID)
	if err != nil || same.ID != again.ID {
		t.Errorf("asked twice: %s and %s, %v", again.ID, same.ID, err)
	}
	r.Always(receiver.Answer{Status: 500})
	if f.sweep() != 1 {
		t.Error("the redelivery was not sent")
	}
	f.clock.advance(time.Minute)
	if f.sweep() != 0 {
		t.Error("the redelivery of something finished was retried")
	}
	attempts := f.attempts(endpoint.ID)
	if len(attempts) != 2 || attempts[1].ID != again.ID || attempts[1].Status != webhooks.AttemptFailed || attempts[1].StatusCode != 500 {
		t.Errorf("attempts: %+v", attempts)
	}
	if _, err := f.hooks.Update(t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Events: &[]string{}}); err != nil {
		t.Fatal(err)
	}
	_, err = f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, first.ID)
	wantReason(t, err, fault.Conflict)
	_, err = f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, webhooks.AttemptID(idgen.New(idgen.Delivery)))
	wantReason(t, err, fault.ResourceNotFound)
}

func TestTest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r)
	_, err := f.hooks.Test(t.Context(), f.ref, endpoint.ID, "")
	wantReason(t, err, fault.InvalidRequest)
	got, err := f.hooks.Test(t.Context(), f.ref, endpoint.ID, "post_call_transcription")
	if err != nil || got.Status != webhooks.AttemptSucceeded || got.EventType != events.PostCallTranscription || got.StatusCode != 200 {
		t.Errorf("test: %+v, %v", got, err)
	}
	r.Always(receiver.Answer{Status: 410, Body: "no"})
	got, err = f.hooks.Test(t.Context(), f.ref, endpoint.ID, "invoice.paid")
	if err != nil || got.Status != webhooks.AttemptFailed || got.EventType != events.InvoicePaid || got.ResponseBody != "no" {
		t.Errorf("failed test: %+v, %v", got, err)
	}
	if body := string(got.RequestBody); !strings.Contains(body, `"workspace_id":""`) && !strings.Contains(body, `"workspace_id": ""`) {
		t.Errorf("the example of an event of the tenant as a whole names a workspace: %s", body)
	}
	inOrder(t, r.Requests())
	for _, request := range r.Requests() {
		if !strings.Contains(string(request.Body), `"test":true`) || request.Header.Get("X-Parlance-Test") != "true" {
			t.Errorf("the request does not say that it is a test: %v %s", request.Header, request.Body)
		}
	}
	f.clock.advance(time.Hour)
	if after := f.get(endpoint.ID); f.sweep() != 0 || after.Status != webhooks.Enabled || after.ConsecutiveFailures != 0 {
		t.Errorf("a test was retried or counted: %+v", after)
	}
	if len(f.attempts(endpoint.ID)) != 2 || f.relay() != nil {
		t.Error("a test is an attempt and no event")
	}
	_, err = f.hooks.Test(t.Context(), f.ref, endpoint.ID, "nonsense")
	wantReason(t, err, fault.WebhookEventUnknown)
}

// TestTestIsListedWhenItHasEnded shows that nobody can redeliver a test that still runs.
func TestTestIsListedWhenItHasEnded(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold})
	ended := make(chan error, 1)
	go func() {
		_, err := f.hooks.Test(t.Context(), f.ref, endpoint.ID, "")
		ended <- err
	}()
	r.Await(t.Context(), t, 1)
	if got := f.attempts(endpoint.ID); len(got) != 0 {
		t.Errorf("attempts %+v although none has ended", got)
	}
	close(hold)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := f.attempts(endpoint.ID); len(got) != 1 || got[0].Status != webhooks.AttemptSucceeded {
		t.Errorf("attempts %+v, want the one that succeeded", got)
	}
}
