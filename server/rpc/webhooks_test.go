package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"github.com/uptrace/bun"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

// webhooksFixture is WebhookService on a real wire, over a database of its own.
type webhooksFixture struct {
	t         *testing.T
	db        *postgres.DB
	hooks     *webhooks.Service
	client    parlancev1connect.WebhookServiceClient
	caller    workspaces.Principal // who every request comes from
	workspace string
	receiver  *receiver.Receiver
	revoked   atomic.Bool // the caller's key
}

func newWebhooksFixture(t *testing.T) *webhooksFixture {
	t.Helper()
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	f := &webhooksFixture{t: t, db: db, receiver: receiver.New(t)}
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.1/32"}, CAFile: f.receiver.CAFile(t)})
	if err != nil {
		t.Fatal(err)
	}
	tenants := workspaces.New(workspaces.Deps{DB: db})
	made, err := tenants.CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	f.caller = workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin}
	f.workspace = string(made.Workspace.ID)
	f.hooks = webhooks.New(webhooks.Deps{
		DB: db, Workspaces: tenants, Keyring: keys, Guard: guard,
		Policy: webhooks.Policy{WatchCheck: time.Millisecond},
	})
	f.serve(rpc.NewAccess(tenants))
	return f
}

// serve puts the handler behind the interceptor of the product, with the caller already known.
func (f *webhooksFixture) serve(access rpc.Access) {
	f.t.Helper()
	validator, err := protovalidate.New()
	if err != nil {
		f.t.Fatal(err)
	}
	chain := &interceptor.RPC{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"), Now: time.Now, Validator: validator, Undecoded: rest.Undecoded,
		Pages: interceptor.NewPages(nil),
	}
	_, mux := parlancev1connect.NewWebhookServiceHandler(rpc.NewWebhooks(access, f.hooks, rpc.Stopping{}),
		connect.WithInterceptors(chain, access.Interceptor()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := workspaces.WithStanding(workspaces.WithPrincipal(r.Context(), f.caller), func(context.Context) error {
			if f.revoked.Load() {
				return fault.New(fault.AuthInvalidKey, "The API key is not valid.")
			}
			return nil
		})
		mux.ServeHTTP(w, r.WithContext(ctx))
	}))
	f.t.Cleanup(server.Close)
	f.client = parlancev1connect.NewWebhookServiceClient(server.Client(), server.URL)
}

// create registers the receiver.
func (f *webhooksFixture) create(names ...string) *parlancev1.WebhookEndpoint {
	f.t.Helper()
	endpoint, err := f.client.CreateWebhookEndpoint(f.t.Context(),
		&parlancev1.CreateWebhookEndpointRequest{WorkspaceId: f.workspace, Url: f.receiver.URL, Events: names})
	if err != nil {
		f.t.Fatal(err)
	}
	f.receiver.Expect(endpoint.GetSecret())
	return endpoint
}

// happen appends an event, relays and delivers it.
func (f *webhooksFixture) happen(eventType events.Type) string {
	f.t.Helper()
	var made webhooks.FannedOut
	var id string
	err := postgres.InTx(f.t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		var err error
		id, err = events.Append(ctx, tx, events.Event{
			TenantID: string(f.caller.TenantID), WorkspaceID: f.workspace, Type: eventType,
			Payload: events.Example(eventType), CreatedAt: time.Now(),
		})
		if err != nil {
			return err
		}
		rows, err := events.UnrelayedPublic(ctx, tx, fair.Ask{Room: 10})
		if err != nil {
			return err
		}
		if made, err = f.hooks.FanOut(ctx, tx, rows, 100); err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, time.Now())
	})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, batch := range webhooks.Batches(made.Queued) {
		if _, err := f.hooks.Deliver(f.t.Context(), batch); err != nil {
			f.t.Fatal(err)
		}
	}
	return id
}

// wantSlug checks an error's code and the slug in its ErrorInfo.
func wantSlug(t *testing.T, err error, code connect.Code, slug string) {
	t.Helper()
	got := ""
	if refused := new(connect.Error); errors.As(err, &refused) {
		for _, detail := range refused.Details() {
			value, _ := detail.Value()
			if info, ok := value.(*errdetails.ErrorInfo); ok {
				got = info.GetReason()
			}
		}
	}
	if connect.CodeOf(err) != code || got != slug {
		t.Errorf("got %v %q (%v), want %v %q", connect.CodeOf(err), got, err, code, slug)
	}
}

func TestWebhookEndpointsOnTheWire(t *testing.T) {
	t.Parallel()
	f := newWebhooksFixture(t)
	ctx := t.Context()
	endpoint := f.create("fatigue.alert", "fatigue.alert", "invoice.paid")
	if !strings.HasPrefix(endpoint.GetSecret(), "whsec_") || !strings.HasSuffix(endpoint.GetSecret(), endpoint.GetSecretHint()) ||
		strings.Join(endpoint.GetEvents(), " ") != "fatigue.alert invoice.paid" ||
		endpoint.GetStatus() != "enabled" || endpoint.GetLastSuccessAt() != nil {
		t.Errorf("created: %v", endpoint)
	}
	id, workspace := endpoint.GetId(), f.workspace
	get, err := f.client.GetWebhookEndpoint(ctx, &parlancev1.GetWebhookEndpointRequest{WorkspaceId: workspace, EndpointId: id})
	if err != nil || get.GetSecret() != "" || get.GetSecretHint() != endpoint.GetSecretHint() {
		t.Errorf("get: %v, %v", get, err)
	}
	// events in the mask without a value is cleared; url, absent, is kept.
	updated, err := f.client.UpdateWebhookEndpoint(ctx, &parlancev1.UpdateWebhookEndpointRequest{
		WorkspaceId: workspace, EndpointId: id, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"events"}},
	})
	if err != nil || len(updated.GetEvents()) != 0 || updated.GetUrl() != f.receiver.URL || updated.GetSecret() != "" {
		t.Errorf("update: %v, %v", updated, err)
	}
	_, err = f.client.UpdateWebhookEndpoint(ctx, &parlancev1.UpdateWebhookEndpointRequest{
		WorkspaceId: workspace, EndpointId: id, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"url"}},
	})
	wantSlug(t, err, connect.CodeInvalidArgument, "invalid-request") // a URL cannot be cleared
	rotated, err := f.client.RotateWebhookSecret(ctx, &parlancev1.RotateWebhookSecretRequest{WorkspaceId: workspace, EndpointId: id})
	if err != nil || rotated.GetSecret() == "" || rotated.GetSecret() == endpoint.GetSecret() {
		t.Errorf("rotate: %v", err)
	}
	list, err := f.client.ListWebhookEndpoints(ctx, &parlancev1.ListWebhookEndpointsRequest{WorkspaceId: workspace})
	if err != nil || len(list.GetEndpoints()) != 1 || list.GetEndpoints()[0].GetSecret() != "" {
		t.Errorf("list: %v, %v", list, err)
	}
	for range 2 {
		if _, err := f.client.DeleteWebhookEndpoint(ctx,
			&parlancev1.DeleteWebhookEndpointRequest{WorkspaceId: workspace, EndpointId: id}); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	_, err = f.client.EnableWebhookEndpoint(ctx, &parlancev1.EnableWebhookEndpointRequest{WorkspaceId: workspace, EndpointId: id})
	wantSlug(t, err, connect.CodeNotFound, "not-found")
}

func TestWebhookEndpointIsRefusedOnTheWire(t *testing.T) {
	t.Parallel()
	f := newWebhooksFixture(t)
	for slug, req := range map[string]*parlancev1.CreateWebhookEndpointRequest{
		"webhook-url-not-https":    {Url: "http://10.0.0.1/", Events: []string{"nonsense"}},
		"webhook-event-unknown":    {Url: "https://10.0.0.1/", Events: []string{"nonsense"}},
		"webhook-url-not-public":   {Url: "https://10.0.0.1/"},
		"webhook-url-unresolvable": {Url: "https://no-such-host.invalid/"},
		"invalid-request":          {},
	} {
		req.WorkspaceId = f.workspace
		_, err := f.client.CreateWebhookEndpoint(t.Context(), req)
		wantSlug(t, err, connect.CodeInvalidArgument, slug)
	}
	_, err := f.client.CreateWebhookEndpoint(t.Context(),
		&parlancev1.CreateWebhookEndpointRequest{WorkspaceId: "ws_unknown", Url: f.receiver.URL})
	wantSlug(t, err, connect.CodeNotFound, "not-found")
}

func TestWebhookDeliveriesOnTheWire(t *testing.T) {
	t.Parallel()
	f := newWebhooksFixture(t)
	ctx := t.Context()
	endpoint := f.create("fatigue.alert")
	eventID := f.happen(events.FatigueAlert)
	limit := func(n int32) *parlancev1.ListWebhookDeliveriesRequest {
		return &parlancev1.ListWebhookDeliveriesRequest{WorkspaceId: f.workspace, EndpointId: endpoint.GetId(), Limit: &n}
	}
	list, err := f.client.ListWebhookDeliveries(ctx, limit(200))
	if err != nil || len(list.GetDeliveries()) != 1 {
		t.Fatalf("deliveries: %v, %v", list, err)
	}
	first := list.GetDeliveries()[0]
	if first.GetEventId() != eventID || first.GetAttempt() != 1 || first.GetStatus() != "succeeded" || first.GetStatusCode() != 200 ||
		first.GetEvent() != "fatigue.alert" || !strings.HasPrefix(first.GetId(), "dlv_") || first.GetNextAttemptAt() != nil ||
		first.GetRequestBody() != string(f.receiver.Requests()[0].Body) || first.GetRequestHeaders()["Webhook-Id"] != eventID {
		t.Errorf("delivery: %v", first)
	}
	for _, n := range []int32{0, -1, 201} {
		_, err := f.client.ListWebhookDeliveries(ctx, limit(n))
		wantSlug(t, err, connect.CodeInvalidArgument, "invalid-request")
	}
	again, err := f.client.RedeliverWebhook(ctx, &parlancev1.RedeliverWebhookRequest{
		WorkspaceId: f.workspace,
		EndpointId:  endpoint.GetId(), DeliveryId: first.GetId(),
	})
	if err != nil || again.GetAttempt() != 2 || again.GetEventId() != eventID || again.GetStatus() != "pending" {
		t.Errorf("redelivery: %v, %v", again, err)
	}
	test, err := f.client.TestWebhookEndpoint(ctx, &parlancev1.TestWebhookEndpointRequest{
		WorkspaceId: f.workspace,
		EndpointId:  endpoint.GetId(), Event: "dsar.ready",
	})
	if err != nil || test.GetStatus() != "succeeded" || test.GetEvent() != "dsar.ready" {
		t.Errorf("test: %v, %v", test, err)
	}
	page, err := f.client.ListWebhookDeliveries(ctx, limit(2))
	if err != nil || len(page.GetDeliveries()) != 2 || page.GetDeliveries()[0].GetId() != test.GetId() || page.GetNextPageToken() == "" {
		t.Errorf("newest two: %v, %v", page, err)
	}
	for _, request := range f.receiver.Requests() {
		if request.Err != nil {
			t.Errorf("the receiver refused %s: %v", request.Type, request.Err)
		}
	}
}

func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()
	f := newWebhooksFixture(t)
	ctx := t.Context()
	first, second := f.happen(events.KBSourceIngested), f.happen(events.FatigueAlert)
	page, err := f.client.ListEvents(ctx, &parlancev1.ListEventsRequest{WorkspaceId: f.workspace, PageSize: 1})
	if err != nil || len(page.GetEvents()) != 1 || page.GetEvents()[0].GetEventId() != first || page.GetNextPageToken() == "" {
		t.Fatalf("first page: %v, %v", page, err)
	}
	if got := page.GetEvents()[0]; got.GetData().GetFields()["name"].GetStringValue() != "Returns policy" ||
		got.GetWorkspaceId() != f.workspace || got.GetType() != "kb.source_ingested" {
		t.Errorf("event: %v", got)
	}
	next, err := f.client.ListEvents(ctx, &parlancev1.ListEventsRequest{WorkspaceId: f.workspace, PageToken: page.GetNextPageToken()})
	if err != nil || len(next.GetEvents()) != 1 || next.GetEvents()[0].GetEventId() != second || next.GetNextPageToken() != "" {
		t.Errorf("second page: %v, %v", next, err)
	}
	watching, stop := context.WithTimeout(ctx, harness.Patience)
	defer stop()
	stream, err := f.client.WatchEvents(watching, &parlancev1.WatchEventsRequest{
		WorkspaceId: f.workspace,
		After:       page.GetEvents()[0].GetCursor(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() || stream.Msg().GetEvent().GetEventId() != second {
		t.Fatalf("watched: %v, %v", stream.Msg(), stream.Err())
	}
	third := f.happen(events.FatigueAlert)
	if !stream.Receive() || stream.Msg().GetEvent().GetEventId() != third {
		t.Errorf("watched: %v, %v; want %s", stream.Msg(), stream.Err(), third)
	}
	f.revoked.Store(true)
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
		t.Errorf("watched with a revoked key: %v, %v", stream.Msg(), stream.Err())
	}
	_ = stream.Close() // its error is stream.Err
}
