package rpc

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

// ownNumbers is a carrier whose account has the numbers of one area.
type ownNumbers struct{ carrier.Carrier }

func (ownNumbers) Name() string { return "own" }

func (ownNumbers) Configure(_ context.Context, number, _ string) error {
	if !strings.HasPrefix(number, "+4930") {
		return &carrier.Refused{Code: "404", Message: "The account has no such number."}
	}
	return nil
}

// unimplemented refuses every method. It is embedded one level deeper than phoneNumbersServer,
// whose methods therefore come first.
type unimplemented struct {
	parlancev1connect.UnimplementedTelephonyServiceHandler
}

// numbersOnly is TelephonyService as far as phoneNumbersServer serves it.
type numbersOnly struct {
	unimplemented
	phoneNumbersServer
}

// phoneNumbersFixture is the REST facade of phoneNumbersServer, over a database of its own.
type phoneNumbersFixture struct {
	t     *testing.T
	url   string
	path  string // of the workspace's numbers
	agent string
}

func newPhoneNumbersFixture(t *testing.T) *phoneNumbersFixture {
	t.Helper()
	db := pgtest.Open(t)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.1/32"}})
	if err != nil {
		t.Fatal(err)
	}
	tenants := workspaces.New(workspaces.Deps{DB: db})
	keeper := agents.New(agents.Deps{DB: db, Workspaces: tenants})
	made, err := tenants.CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := keeper.Create(t.Context(), workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}, "Ada", agents.Config{})
	if err != nil {
		t.Fatal(err)
	}
	service := numbers.New(numbers.Deps{
		DB: db, Workspaces: tenants, Agents: keeper, Keys: sealtest.New(t, db), Guard: guard,
		CarrierFunc: func(context.Context, workspaces.Ref) (carrier.Carrier, error) { return ownNumbers{}, nil },
		WebhookURL: func(carrierName string, id numbers.ID) string {
			return "https://parlance.example/" + carrierName + "/" + string(id)
		},
	})
	f := &phoneNumbersFixture{
		t: t, agent: string(agent.ID), path: "/v1/workspaces/" + string(made.Workspace.ID) + "/phone-numbers",
	}
	f.serve(NewAccess(tenants), service, workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin})
	return f
}

// serve puts the handler behind the interceptors and the facade of the product, with the caller
// already known.
func (f *phoneNumbersFixture) serve(access Access, service *numbers.Service, caller workspaces.Principal) {
	f.t.Helper()
	validator, err := protovalidate.New()
	if err != nil {
		f.t.Fatal(err)
	}
	chain := &interceptor.RPC{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"), Now: time.Now, Validator: validator, Undecoded: rest.Undecoded,
		Pages: interceptor.NewPages(nil),
	}
	_, mux := parlancev1connect.NewTelephonyServiceHandler(&numbersOnly{phoneNumbersServer: phoneNumbersServer{numbers: service}},
		connect.WithInterceptors(chain, access.Interceptor()))
	facade := rest.New(rest.Config{Routes: parlancev1rest.Routes, RPC: mux})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		facade.ServeHTTP(w, r.WithContext(workspaces.WithPrincipal(r.Context(), caller)))
	}))
	f.t.Cleanup(server.Close)
	f.url = server.URL
}

// do sends a request and returns the members of the answer, which must have the status.
func (f *phoneNumbersFixture) do(status int, method, path, body string) (map[string]any, http.Header) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		f.t.Fatalf("%s %s %s: %d, %v, want %d: %s", method, path, body, response.StatusCode, err, status, answer)
	}
	members := map[string]any{}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &members); err != nil {
			f.t.Fatal(err)
		}
	}
	return members, response.Header
}

func TestPhoneNumbersOverREST(t *testing.T) {
	t.Parallel()
	f := newPhoneNumbersFixture(t)
	made, header := f.do(http.StatusCreated, "POST", f.path, `{"phone_number": "+49 30 123456", "agent_id": "`+f.agent+`", "name": "Berlin",
		"dynamic_variables": {"city": "Berlin"}}`)
	one := f.path + "/" + made["id"].(string)
	secret := made["lookup_secret"].(string)
	if header.Get("Location") != one || made["phone_number"] != "+4930123456" || made["enabled"] != true || made["configured"] != true ||
		made["configure_url"] != "https://parlance.example/own/"+made["id"].(string) || !strings.HasPrefix(secret, "whsec_") ||
		made["dynamic_variables"].(map[string]any)["city"] != "Berlin" || made["created_at"] == nil {
		t.Errorf("made: %v, %v", made, header)
	}
	got, _ := f.do(http.StatusOK, "GET", one, "")
	if got["lookup_secret"] != "" || got["lookup_secret_hint"] != secret[len(secret)-4:] || got["name"] != "Berlin" {
		t.Errorf("read: %v", got)
	}
	changed, _ := f.do(http.StatusOK, "PATCH", one, `{"name": null, "enabled": false, "dynamic_variables": null}`)
	if changed["name"] != "" || changed["enabled"] != false || len(changed["dynamic_variables"].(map[string]any)) != 0 ||
		changed["agent_id"] != f.agent || changed["lookup_secret"] != "" {
		t.Errorf("changed: %v", changed)
	}
	rotated, _ := f.do(http.StatusOK, "POST", one+"/rotate-secret", "{}")
	if again := rotated["lookup_secret"].(string); again == secret || !strings.HasPrefix(again, "whsec_") || rotated["enabled"] != false {
		t.Errorf("rotated: %v", rotated)
	}
	quiet, _ := f.do(http.StatusCreated, "POST", f.path, `{"phone_number": "+4930123457", "agent_id": "`+f.agent+`", "enabled": false}`)
	if quiet["enabled"] != false {
		t.Errorf("made: %v", quiet)
	}
	page, _ := f.do(http.StatusOK, "GET", f.path+"?page_size=1", "")
	listed := page["phone_numbers"].([]any)
	if len(listed) != 1 || listed[0].(map[string]any)["id"] != quiet["id"] || page["next_page_token"] == "" {
		t.Errorf("listed: %v", page)
	}
	f.do(http.StatusNoContent, "DELETE", one, "")
	f.do(http.StatusNotFound, "GET", one, "")
}

func TestPhoneNumbersRefusedOverREST(t *testing.T) {
	t.Parallel()
	f := newPhoneNumbersFixture(t)
	agent := `"agent_id": "` + f.agent + `"`
	f.do(http.StatusCreated, "POST", f.path, `{"phone_number": "+49 30 123456", `+agent+`}`)
	for body, want := range map[string]struct {
		status int
		code   fault.Reason
	}{
		`{"phone_number": "+49 30 123456", ` + agent + `}`:  {http.StatusConflict, fault.NameTaken},
		`{"phone_number": "+49 40 123456", ` + agent + `}`:  {http.StatusBadRequest, fault.InvalidRequest},
		`{"phone_number": "030 123457", ` + agent + `}`:     {http.StatusBadRequest, fault.InvalidRequest},
		`{"phone_number": "+49 30 123457", "agent_id": ""}`: {http.StatusBadRequest, fault.InvalidRequest},
		`{"phone_number": "+49 30 123457", "agent_id": "agt_01j0000000000000000000000"}`: {
			http.StatusNotFound, fault.ResourceNotFound,
		},
		`{"phone_number": "+49 30 123457", ` + agent + `, "lookup_url": "http://127.0.0.1/"}`: {
			http.StatusBadRequest, fault.WebhookURLNotHTTPS,
		},
	} {
		answer, _ := f.do(want.status, "POST", f.path, body)
		if answer["code"] != string(want.code) {
			t.Errorf("%s: %v, want %s", body, answer, want.code)
		}
	}
}
