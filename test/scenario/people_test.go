package scenario

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/coder/websocket"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/test/fake/oidcissuer"
	"parlance.dev/parlance/test/harness"
)

const peopleRoles = "bosses=owner,support=operator,science=analyst,money=billing"

// shopOrigin is an origin that may call the API with a key.
const shopOrigin = "https://shop.example"

// startPeople starts an installation with an issuer; plans, unless empty, are its plans, and the
// tenant's is enterprise.
func startPeople(t *testing.T, plans string) *browser {
	t.Helper()
	issuer := oidcissuer.Start(t)
	settings := issuer.Settings(peopleRoles)
	settings["PARLANCE_OIDC_NAME"] = "Acme SSO"
	settings["PARLANCE_CORS_ORIGINS"] = shopOrigin
	if plans != "" {
		settings["PARLANCE_PLANS_FILE"] = filepath.Join(t.TempDir(), "plans.json")
		if err := os.WriteFile(settings["PARLANCE_PLANS_FILE"], []byte(plans), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return newBrowser(t, harness.Start(t, harness.Options{Settings: settings, WithoutWorker: true}), issuer)
}

// TestPeople signs people in at a real issuer's wire and uses the console's API as them.
func TestPeople(t *testing.T) {
	t.Parallel()
	b := startPeople(t, "")
	signedOut := b.session(t)
	if signedOut.SignedIn || signedOut.Person != nil || len(signedOut.Providers) != 1 || signedOut.Providers[0].Name != "Acme SSO" ||
		signedOut.Providers[0].LoginURL != "/console/auth/login" {
		t.Errorf("signed out: got %+v", signedOut)
	}
	ada := b.signedIn(t, "ada", "bosses")
	who := ada.session(t)
	if !who.SignedIn || who.Person.Name != "ada" || who.Person.Role != "owner" || !strings.HasPrefix(who.Person.ID, "per_") {
		t.Fatalf("signed in: got %+v", who)
	}
	caller := ada.call(t, "PeopleService/GetCaller", "{}").Must(t, 200)
	if caller.Text("kind") != "person" || caller.Text("id") != who.Person.ID || caller.Text("scope") != "admin" ||
		caller.Text("role") != "owner" || caller.Text("email") != "ada@example.com" || caller.Text("tenant_id") != b.env.Tenant.ID {
		t.Errorf("the caller: got %s", caller.Body)
	}
	made := ada.call(t, "WorkspaceService/CreateWorkspace", `{"name":"made by ada"}`).Must(t, 200).Text("id")
	t.Run("the cookie", func(t *testing.T) { checkCookie(t, b) })
	t.Run("refused at the callback", func(t *testing.T) { checkRefusedPeople(t, b) })
	t.Run("other sites", func(t *testing.T) { checkOtherSites(t, ada) })
	t.Run("other protocols", func(t *testing.T) { checkOtherProtocols(t, ada) })
	t.Run("roles", func(t *testing.T) { checkPeopleRoles(t, b, ada) })
	t.Run("the audit log", func(t *testing.T) { checkPeopleAudit(t, b, who.Person.ID, made) })
	t.Run("signing out", func(t *testing.T) {
		csrf := harness.Header("X-Parlance-CSRF", ada.session(t).CSRFToken)
		same := harness.Header("Sec-Fetch-Site", "same-origin")
		ada.send(t, "POST", "/console/auth/logout", "", same).Must(t, 401)
		ada.send(t, "POST", "/console/auth/logout", "", csrf, harness.Header("Sec-Fetch-Site", "cross-site")).Must(t, 401)
		ada.send(t, "GET", "/console/auth/logout", "", csrf, same).Must(t, 405)
		stolen := cookieHeader(t, ada)
		ada.send(t, "POST", "/console/auth/logout", "", csrf, same).Must(t, 204)
		if ada.session(t).SignedIn {
			t.Error("still signed in")
		}
		b.send(t, "POST", "/parlance.v1.PeopleService/GetCaller", "{}", harness.Header("Cookie", stolen), csrf, same,
			harness.Header("Content-Type", "application/json")).Must(t, 401)
	})
}

// cookieHeader is the Cookie header that a browser sends to the installation.
func cookieHeader(t *testing.T, b *browser) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.env.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, cookie := range b.client.Jar.Cookies(request.URL) {
		parts = append(parts, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(parts, "; ")
}

func checkCookie(t *testing.T, b *browser) {
	page := b.send(t, "GET", "/console/auth/login", "").Must(t, 302)
	if !strings.Contains(page.Header.Get("Location"), "code_challenge_method=S256") {
		t.Errorf("no PKCE: %s", page.Header.Get("Location"))
	}
	b.issuer.QueueUser(oidcissuer.User("ada", "bosses"))
	back := b.send(t, "GET", page.Header.Get("Location"), "").Must(t, 302).Header.Get("Location")
	signedIn := b.send(t, "GET", back, "").Must(t, 302)
	cookies, err := http.ParseSetCookie(signedIn.Header.Values("Set-Cookie")[1])
	if err != nil {
		t.Fatal(err)
	}
	if cookies.Name != "parlance_console" || !cookies.HttpOnly || cookies.Path != "/" || cookies.SameSite != http.SameSiteLaxMode ||
		cookies.MaxAge < 11*3600 || cookies.MaxAge > 12*3600 {
		t.Errorf("got %+v", cookies)
	}
	if signedIn.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", signedIn.Header)
	}
	if again := b.send(t, "GET", back, "").Must(t, 302).Header.Get("Location"); again != "../#/sign-in?error=expired" {
		t.Errorf("a callback that is repeated ends at %s", again)
	}
	for _, evil := range []string{"https://evil.example/", "//evil.example", "/v1/tenant"} {
		page := b.send(t, "GET", "/console/auth/login?return_to="+evil, "").Must(t, 302).Header.Get("Location")
		back := b.send(t, "GET", page, "").Must(t, 302).Header.Get("Location")
		if end := b.send(t, "GET", back, "").Must(t, 302).Header.Get("Location"); !strings.HasPrefix(end, "../#/sign-in?error=") && end != "../" {
			t.Errorf("return_to %s ends at %s", evil, end)
		}
	}
}

func checkRefusedPeople(t *testing.T, b *browser) {
	guest := newBrowser(t, b.env, b.issuer)
	if end := guest.login(t, "guest", "visitors"); end != "../#/sign-in?error=no-role" {
		t.Errorf("without a role: %s", end)
	}
	b.issuer.TamperTokens()
	if end := guest.login(t, "eve", "bosses"); end != "../#/sign-in?error=issuer-refused" {
		t.Errorf("with a token that was changed: %s", end)
	}
	b.issuer.ChangeClaims(t, func(claims map[string]any) {
		audience, _ := claims["aud"].([]any)
		claims["aud"], claims["azp"] = append(audience, "other"), "other"
	})
	if end := guest.login(t, "eve", "bosses"); end != "../#/sign-in?error=issuer-refused" {
		t.Errorf("with a token that was made for another program: %s", end)
	}
	b.issuer.OnAnswer(nil)
	if end := guest.login(t, "eve", "bosses "); end != "../#/sign-in?error=no-role" {
		t.Errorf("in a group whose name is nearly that of another: %s", end)
	}
	end := guest.send(t, "GET", "/console/auth/callback?code=x&state=y", "").Must(t, 302).Header.Get("Location")
	if end != "../#/sign-in?error=expired" {
		t.Errorf("without a beginning: %s", end)
	}
	if guest.session(t).SignedIn {
		t.Error("somebody who was refused is signed in")
	}
}

func checkOtherSites(t *testing.T, ada *browser) {
	const name = "PeopleService/GetCaller"
	ada.call(t, name, "{}").Must(t, 200)
	none := func(header string) harness.With { return func(r *http.Request) { r.Header.Del(header) } }
	for what, with := range map[string][]harness.With{
		"another site":                    {harness.Header("Sec-Fetch-Site", "cross-site"), harness.Header("Origin", "https://evil.example")},
		"another host":                    {harness.Header("Sec-Fetch-Site", "same-site")},
		"an older browser elsewhere":      {none("Sec-Fetch-Site"), harness.Header("Origin", "https://evil.example")},
		"no browser":                      {none("Sec-Fetch-Site")},
		"an origin that may use keys":     {harness.Header("Sec-Fetch-Site", "cross-site"), harness.Header("Origin", shopOrigin)},
		"an older one of that":            {none("Sec-Fetch-Site"), harness.Header("Origin", shopOrigin)},
		"no CSRF token":                   {none("X-Parlance-CSRF")},
		"another CSRF token":              {harness.Header("X-Parlance-CSRF", "AAAA")},
		"a form":                          {harness.Header("Content-Type", "text/plain")},
		"another form":                    {harness.Header("Content-Type", "application/x-www-form-urlencoded")},
		"a key that is none, beside it":   {harness.Header("Authorization", "Bearer prl_none")},
		"a key of nothing, beside it":     {harness.Header("Authorization", "Basic YTpi")},
		"gRPC-Web":                        {harness.Header("Content-Type", "application/grpc-web+json")},
		"gRPC":                            {harness.Header("Content-Type", "application/grpc+json")},
		"JSON by another name of a field": {harness.Header("Content-Type", "application/vnd.api+json")},
	} {
		answer := ada.call(t, name, "{}", with...)
		body := string(answer.Body)
		refused := answer.Status == 401 || answer.Header.Get("Grpc-Status") == "16" || what == "gRPC" && answer.Status == 415
		if !refused || strings.Contains(body, "ada@example.com") {
			t.Errorf("%s: got %d %s", what, answer.Status, answer.Body)
		}
	}
	form := ada.call(t, name, "{}", harness.Header("Content-Type", "text/plain"))
	if form.Problem.Type != ada.env.URL+"/errors/auth-missing" {
		t.Errorf("the type of a problem is no whole address: %q", form.Problem.Type)
	}
	query := "/parlance.v1.PeopleService/GetCaller?encoding=json&message=%7B%7D&connect=v1"
	csrf := harness.Header("X-Parlance-CSRF", ada.session(t).CSRFToken)
	if got := ada.send(t, "GET", query, "", csrf, harness.Header("Sec-Fetch-Site", "same-origin")); got.Status < 400 {
		t.Errorf("a GET with the cookie: %d %s", got.Status, got.Body)
	}
	preflight := ada.send(t, "OPTIONS", "/parlance.v1.PeopleService/GetCaller", "", harness.Header("Origin", shopOrigin),
		harness.Header("Access-Control-Request-Method", "POST"), harness.Header("Access-Control-Request-Headers", "x-parlance-csrf,content-type"))
	if preflight.Header.Get("Access-Control-Allow-Credentials") != "" ||
		strings.Contains(strings.ToLower(preflight.Header.Get("Access-Control-Allow-Headers")), "csrf") {
		t.Errorf("another origin may send cookies: %v", preflight.Header)
	}
	shown := ada.send(t, "GET", "/console/auth/session", "", harness.Header("Origin", shopOrigin),
		harness.Header("Sec-Fetch-Site", "cross-site"))
	if strings.Contains(string(shown.Body), "ada") {
		t.Errorf("another origin is told who is signed in: %s", shown.Body)
	}
}

func checkOtherProtocols(t *testing.T, ada *browser) {
	with := []harness.With{
		harness.Header("Sec-Fetch-Site", "same-origin"), harness.Header("X-Parlance-CSRF", ada.session(t).CSRFToken),
		harness.Header("Content-Type", "application/json"),
	}
	checkProblem(t, ada.send(t, "GET", "/v1/caller", "", with...), 401, "auth-missing")
	checkProblem(t, ada.send(t, "GET", "/v1/tenant", "", with...), 401, "auth-missing")
	checkProblem(t, ada.send(t, "POST", "/v1/workspaces", `{"name":"x"}`, with...), 401, "auth-missing")
	_, answer, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(ada.env.URL, "http")+"/v1/realtime/chat",
		&websocket.DialOptions{HTTPClient: ada.client, HTTPHeader: http.Header{"Sec-Fetch-Site": {"same-origin"}}})
	if err == nil || answer == nil || answer.StatusCode < 400 {
		t.Errorf("a WebSocket with the cookie: %v, %v", answer, err)
	}
	client := parlancev1connect.NewPeopleServiceClient(ada.client, ada.env.URL, connect.WithGRPCWeb())
	if _, err := client.GetCaller(t.Context(), &parlancev1.GetCallerRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("gRPC-Web with the cookie: %v", err)
	}
	caller := ada.env.Do(t, "GET", "/v1/caller", nil, harness.Key(ada.env.Tenant.Read)).Must(t, 200)
	if caller.Text("kind") != "api_key" || caller.Text("scope") != "read" || caller.Text("role") != "" {
		t.Errorf("a key: %s", caller.Body)
	}
}

// checkPeopleRoles calls every method that the role may not call, and some that it may.
func checkPeopleRoles(t *testing.T, b, ada *browser) {
	for role, group := range map[string]string{"operator": "support", "analyst": "science", "billing": "money"} {
		someone := b.signedIn(t, role, group)
		csrf := someone.session(t).CSRFToken
		for _, method := range methods() {
			policy := policyOf(method)
			allowed := map[string]bool{
				"operator": policy.GetScope() <= parlancev1.Scope_SCOPE_OPERATOR,
				"analyst":  policy.GetScope() <= parlancev1.Scope_SCOPE_READ && !policy.GetPersonal(),
				"billing":  policy.GetBilling(),
			}[role]
			if allowed || method.IsStreamingClient() {
				continue
			}
			kind, body := "application/json", "{}"
			if method.IsStreamingServer() {
				kind, body = "application/connect+json", "\x00\x00\x00\x00\x02{}"
			}
			answer := someone.send(t, "POST", "/"+string(method.Parent().FullName())+"/"+string(method.Name()), body,
				harness.Header("Content-Type", kind), harness.Header("Sec-Fetch-Site", "same-origin"), harness.Header("X-Parlance-CSRF", csrf))
			if !strings.Contains(string(answer.Body), "auth-scope") && !strings.Contains(string(answer.Body), "not_implemented") {
				t.Errorf("%s may call %s: %d %s", role, method.Name(), answer.Status, answer.Body)
			}
		}
		someone.call(t, "PeopleService/GetCaller", "{}").Must(t, 200)
		if role == "billing" {
			someone.call(t, "UsageService/CreateUsageAlert", `{"meter":"turns","quantity":5}`).Must(t, 200)
			someone.call(t, "UsageService/GetUsage", "{}").Must(t, 200)
		}
	}
	bob := b.signedIn(t, "bob", "support")
	id := bob.session(t).Person.ID
	ada.call(t, "PeopleService/UpdatePerson", `{"personId":"`+id+`","assignedRole":"billing"}`).Must(t, 200)
	if role := bob.session(t).Person.Role; role != "billing" {
		t.Errorf("while signed in: got the role %s", role)
	}
	refused := string(bob.call(t, "SessionService/ListSessions", "{}").Must(t, 403).Body)
	if !strings.Contains(refused, "An owner can give you another role.") {
		t.Errorf("it is not said who can help: %s", refused)
	}
	ada.call(t, "PeopleService/UpdatePerson", `{"personId":"`+id+`","disabled":true}`).Must(t, 200)
	bob.call(t, "PeopleService/GetCaller", "{}").Must(t, 401)
	if end := bob.login(t, "bob", "support"); end != "../#/sign-in?error=disabled" {
		t.Errorf("disabled: %s", end)
	}
	last := ada.call(t, "PeopleService/UpdatePerson", `{"personId":"`+ada.session(t).Person.ID+`","assignedRole":"operator"}`)
	if !strings.Contains(string(last.Body), "person-is-last-owner") {
		t.Errorf("the last owner demotes themself: %d %s", last.Status, last.Body)
	}
}

// checkPeopleAudit looks for what people did.
func checkPeopleAudit(t *testing.T, b *browser, ada, made string) {
	entries := b.env.Do(t, "GET", "/v1/audit-log?page_size=200", nil).Must(t, 200).List("entries")
	find := func(action, outcome, actor string) map[string]any {
		t.Helper()
		at := slices.IndexFunc(entries, func(entry any) bool {
			return harness.Path(entry, "action") == action && harness.Path(entry, "outcome") == outcome && harness.Path(entry, "actor_name") == actor
		})
		if at < 0 {
			t.Fatalf("there is no entry %s %s by %s", action, outcome, actor)
		}
		entry, _ := entries[at].(map[string]any)
		return entry
	}
	created := find("workspace.create", "done", "ada")
	if created["actor_kind"] != "person" || created["actor_id"] != ada || created["resource_id"] != made {
		t.Errorf("got %v", created)
	}
	find("person.sign_in", "done", "ada")
	find("person.sign_in_refused", "no-role", "guest")
	find("person.sign_in_refused", "disabled", "bob")
	find("person.update", "done", "ada")
	find("agent.create", "auth-scope", "analyst")
	if got := b.env.Do(t, "GET", "/v1/audit-log?actor="+ada, nil).Must(t, 200).List("entries"); len(got) == 0 {
		t.Error("the actor's entries are not found by the actor's id")
	}
}

// TestAnalystSeesNoPersonalData reads a conversation as an operator and as an analyst.
func TestAnalystSeesNoPersonalData(t *testing.T) {
	t.Parallel()
	b := startPeople(t, "")
	const user, number = "ada.lovelace@example.com", "+4930901820"
	agent := b.env.Do(t, "POST", b.env.Tenant.In("/agents"), `{"name":"Agent"}`).Must(t, 201).Text("id")
	session := b.env.Do(t, "POST", "/v1/sessions",
		`{"agent_id":"`+agent+`","user_id":"`+user+`","modality":"text","dynamic_variables":{"customer":"Augusta"}}`).Must(t, 201).Text("id")
	b.env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"I am at `+number+`, write to `+user+`."}`).Must(t, 200)
	personal := []string{user, number, "Augusta"}
	calls := map[string]string{
		"SessionService/GetSession": `{"sessionId":"` + session + `"}`, "SessionService/ListSessions": "{}",
		"SessionService/GetTranscript": `{"sessionId":"` + session + `"}`,
		"WebhookService/ListEvents":    `{"workspaceId":"` + b.env.Tenant.WorkspaceID + `"}`,
	}
	operator, analyst := b.signedIn(t, "op", "support"), b.signedIn(t, "ann", "science")
	for name, body := range calls {
		seen := string(operator.call(t, name, body).Must(t, 200).Body)
		masked := string(analyst.call(t, name, body).Must(t, 200).Body)
		for _, secret := range personal {
			if strings.Contains(masked, secret) {
				t.Errorf("%s shows %s to an analyst: %s", name, secret, masked)
			}
		}
		if name == "SessionService/GetTranscript" && (!strings.Contains(seen, number) || !strings.Contains(masked, "I am at [phone]")) {
			t.Errorf("an operator sees %s, an analyst %s", seen, masked)
		}
		if name == "SessionService/GetSession" && (!strings.Contains(seen, "Augusta") || !strings.Contains(masked, session)) {
			t.Errorf("an operator sees %s, an analyst %s", seen, masked)
		}
	}
	analyst.call(t, "SessionService/ListSessions", `{"userId":"`+user+`"}`).Must(t, 403)
	analyst.call(t, "MemoryService/ListUsers", `{"workspaceId":"`+b.env.Tenant.WorkspaceID+`"}`).Must(t, 403)
}

// TestPersonHasOwnLimits checks that people are counted, and their repetitions known, apart.
func TestPersonHasOwnLimits(t *testing.T) {
	t.Parallel()
	b := startPeople(t, `{"enterprise": {"kb_storage_bytes": 5, "kb_upload_bytes": 5, "rates_per_minute": {"read": 1}}}`)
	ada, bob := b.signedIn(t, "ada", "bosses"), b.signedIn(t, "bob", "bosses")
	key := harness.Header("Idempotency-Key", "the-same")
	one := ada.call(t, "WorkspaceService/CreateWorkspace", `{"name":"one"}`, key).Must(t, 200)
	if again := ada.call(t, "WorkspaceService/CreateWorkspace", `{"name":"one"}`, key).Must(t, 200); again.Text("id") != one.Text("id") {
		t.Error("the same person's repetition made another workspace")
	}
	if other := bob.call(t, "WorkspaceService/CreateWorkspace", `{"name":"one"}`, key).Must(t, 200); other.Text("id") == one.Text("id") {
		t.Error("another person was answered with the first one's workspace")
	}
	harness.Await(t, harness.Patience, "one person has used up theirs", func() bool {
		return ada.call(t, "PeopleService/GetCaller", "{}").Status == 429
	})
	bob.call(t, "PeopleService/GetCaller", "{}").Must(t, 200)
}

// TestSignInWithoutIssuer is an installation whose people have keys.
func TestSignInWithoutIssuer(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, harness.Start(t, harness.Options{WithoutWorker: true}), nil)
	if got := b.session(t); got.SignedIn || got.Providers == nil || len(got.Providers) != 0 {
		t.Errorf("got %+v", got)
	}
	checkProblem(t, b.send(t, "GET", "/console/auth/login", ""), 404, "route-not-found")
	checkProblem(t, b.send(t, "POST", "/console/auth/session", ""), 405, "method-not-allowed")
	checkProblem(t, b.send(t, "GET", "/console/auth/none", ""), 404, "route-not-found")
}

// TestSignInOnlyOverTLS is a console that is served over http to other machines.
func TestSignInOnlyOverTLS(t *testing.T) {
	t.Parallel()
	issuer := oidcissuer.Start(t)
	settings := issuer.Settings(peopleRoles)
	settings["PARLANCE_PUBLIC_URL"] = "http://console.example"
	b := newBrowser(t, harness.Start(t, harness.Options{Settings: settings, WithoutWorker: true}), issuer)
	if end := b.send(t, "GET", "/console/auth/login", "").Must(t, 302).Header.Get("Location"); end != "../#/sign-in?error=not-secure" {
		t.Errorf("got %s", end)
	}
}
