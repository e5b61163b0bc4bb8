package people_test

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/oidc"
	"parlance.dev/parlance/test/fake/oidcissuer"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

// redirect is where the issuer sends browsers.
const redirect = "https://console.example/console/auth/callback"

// office is a tenant whose people sign in at an issuer, with a clock that the test moves.
type office struct {
	*people.Service
	issuer  *oidcissuer.Issuer
	tenants *workspaces.Service
	tenant  workspaces.TenantID
	db      *postgres.DB
	keys    *seal.Keyring

	mu    sync.Mutex
	ahead time.Duration
}

func (o *office) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Add(o.ahead)
}

// pass moves the clock of the service, and that of the issuer.
func (o *office) pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead += d
	o.issuer.FastForward(d)
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{db: pgtest.Open(t), issuer: oidcissuer.Start(t)}
	o.keys = sealtest.New(t, o.db)
	o.tenants = workspaces.New(workspaces.Deps{DB: o.db, Now: o.now})
	made, err := o.tenants.CreateTenant(t.Context(), "Acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	o.tenant = made.Tenant.ID
	o.Service = o.service(t, "")
	return o
}

// service makes another service for the same database and issuer.
func (o *office) service(t *testing.T, tenant string) *people.Service {
	t.Helper()
	roles, err := people.ParseRoles([]string{"bosses=owner", "support=operator", "science=analyst", "money=billing"}, "")
	if err != nil {
		t.Fatal(err)
	}
	config := o.issuer.Config()
	config.Now = o.now
	return people.New(people.Deps{
		DB: o.db, Workspaces: o.tenants, Keys: o.keys, Issuer: oidc.New(config), Tenant: tenant, Roles: roles, Now: o.now,
	})
}

// begin begins a sign-in and lets the issuer's page send the browser back.
func (o *office) begin(t *testing.T, subject string, groups ...string) people.Callback {
	t.Helper()
	page, carried, err := o.Begin(t.Context(), redirect, "/console/#/sessions")
	if err != nil {
		t.Fatal(err)
	}
	o.issuer.QueueUser(oidcissuer.User(subject, groups...))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // there is nothing in it
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || answer.StatusCode != http.StatusFound {
		t.Fatalf("the issuer's page: %d to %q", answer.StatusCode, answer.Header.Get("Location"))
	}
	return people.Callback{Carried: carried, State: back.Query().Get("state"), Code: back.Query().Get("code")}
}

// signIn signs somebody in.
func (o *office) signIn(t *testing.T, subject string, groups ...string) people.Result {
	t.Helper()
	result, err := o.Finish(t.Context(), o.begin(t, subject, groups...))
	if err != nil || result.Refused != "" {
		t.Fatalf("%s: %q %v %v", subject, result.Refused, result.Cause, err)
	}
	return result
}

// role is the role of who is signed in with a token; "" for nobody.
func (o *office) role(t *testing.T, token seal.Secret) workspaces.Role {
	t.Helper()
	p, err := o.Authenticate(t.Context(), token.Reveal())
	if err != nil {
		if fault.ReasonOf(err) != fault.AuthMissing {
			t.Fatal(err)
		}
		return ""
	}
	return p.Role
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	o := open(t)
	result := o.signIn(t, "ada", "bosses", "other")
	if result.ReturnTo != "/console/#/sessions" || result.Person.Role() != workspaces.RoleOwner || result.Person.Email != "ada@example.com" {
		t.Errorf("got %+v", result)
	}
	p, err := o.Authenticate(t.Context(), result.Token.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	want := workspaces.Principal{
		TenantID: o.tenant, PersonID: result.Person.ID, PersonName: "ada", Role: workspaces.RoleOwner, Scope: workspaces.ScopeAdmin, Plan: "free",
	}
	if p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	again := o.signIn(t, "ada", "support")
	if again.Person.ID != result.Person.ID || again.Person.Role() != workspaces.RoleOperator || again.Token == result.Token {
		t.Errorf("the same person again: %+v", again.Person)
	}
	if got := o.role(t, result.Token); got != workspaces.RoleOperator {
		t.Errorf("the first browser: got %q, want the role of now", got)
	}
	if found, err := o.Get(t.Context(), p, result.Person.ID); err != nil || found.SignIns != 2 {
		t.Errorf("got %d sign-ins, %v, want 2", found.SignIns, err)
	}
	if err := o.SignOut(t.Context(), p, result.Token.Reveal()); err != nil {
		t.Fatal(err)
	}
	if o.role(t, result.Token) != "" || o.role(t, again.Token) == "" {
		t.Error("signing out must end one browser's sign-in, and no other")
	}
	for _, text := range []string{"", "x", result.Token.Reveal() + "A", "' OR true"} {
		if _, err := o.Authenticate(t.Context(), text); fault.ReasonOf(err) != fault.AuthMissing {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestSignInIsRefused(t *testing.T) {
	t.Parallel()
	o := open(t)
	refused := func(t *testing.T, want people.Refusal, c people.Callback) people.Result {
		t.Helper()
		result, err := o.Finish(t.Context(), c)
		if err != nil || result.Refused != want || result.Token != "" {
			t.Errorf("got %q (%v), %v, want %q", result.Refused, result.Cause, err, want)
		}
		return result
	}
	t.Run("another state", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		c.State += "x"
		refused(t, people.Expired, c)
	})
	t.Run("another browser", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		c.Carried = o.begin(t, "eve", "bosses").Carried
		refused(t, people.Expired, c)
		c.Carried = ""
		refused(t, people.Expired, c)
	})
	t.Run("a code that was used", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		if result, err := o.Finish(t.Context(), c); err != nil || result.Refused != "" {
			t.Fatalf("got %q, %v", result.Refused, err)
		}
		refused(t, people.Unproven, c)
	})
	t.Run("another nonce", func(t *testing.T) {
		o.issuer.OnRequest(func(r *http.Request) {
			if query := r.URL.Query(); query.Has("nonce") {
				query.Set("nonce", "of-another-sign-in")
				r.URL.RawQuery = query.Encode()
			}
		})
		defer o.issuer.OnRequest(nil)
		refused(t, people.Unproven, o.begin(t, "ada", "bosses"))
	})
	t.Run("another verifier", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		o.issuer.OnRequest(func(r *http.Request) {
			if err := r.ParseForm(); err == nil && r.Form.Has("code_verifier") {
				r.Form.Set("code_verifier", "of-another-browser-000000000000000000000000000000")
			}
		})
		defer o.issuer.OnRequest(nil)
		refused(t, people.Unproven, c)
	})
	t.Run("a token that was changed", func(t *testing.T) {
		o.issuer.TamperTokens()
		defer o.issuer.OnAnswer(nil)
		refused(t, people.Unproven, o.begin(t, "ada", "bosses"))
	})
	t.Run("a token that has expired", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		life := o.issuer.AccessTTL
		o.issuer.AccessTTL = -time.Hour
		defer func() { o.issuer.AccessTTL = life }()
		refused(t, people.Unproven, c)
	})
	t.Run("too late", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		o.pass(people.FlowLife + time.Second)
		refused(t, people.Expired, c)
	})
	t.Run("the issuer says no", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		c.Code, c.Error = "", "access_denied"
		refused(t, people.Denied, c)
	})
	t.Run("the issuer is down", func(t *testing.T) {
		c := o.begin(t, "ada", "bosses")
		o.issuer.SetDown(true)
		defer o.issuer.SetDown(false)
		refused(t, people.Unavailable, c)
	})
	t.Run("no role", func(t *testing.T) {
		result := refused(t, people.NoRole, o.begin(t, "guest", "visitors"))
		if result.Person.ID == "" || result.Person.Role() != workspaces.RoleNone {
			t.Errorf("an owner must find who had no role: %+v", result.Person)
		}
	})
	t.Run("disabled", func(t *testing.T) {
		person := o.signIn(t, "bob", "support").Person
		if _, err := o.Update(t.Context(), key(o.tenant), person.ID, people.Change{Disabled: new(true)}); err != nil {
			t.Fatal(err)
		}
		refused(t, people.Disabled, o.begin(t, "bob", "support"))
	})
}

// TestIssuerIsReadAgain has an issuer that is down when it is first needed.
func TestIssuerIsReadAgain(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.issuer.SetDown(true)
	if _, _, err := o.Begin(t.Context(), redirect, ""); err == nil {
		t.Fatal("a sign-in was begun at an issuer that is down")
	}
	o.issuer.SetDown(false)
	o.signIn(t, "ada", "bosses")
	o.issuer.SetDown(true)
	o.pass(2 * time.Hour)
	if _, _, err := o.Begin(t.Context(), redirect, ""); err != nil {
		t.Errorf("the document that is known must be used on: %v", err)
	}
}

func TestSignInEnds(t *testing.T) {
	t.Parallel()
	o := open(t)
	idle := o.signIn(t, "ada", "bosses").Token
	o.pass(2*time.Hour - time.Minute)
	if o.role(t, idle) == "" {
		t.Fatal("signed out before its idle time was over")
	}
	o.pass(2*time.Hour - time.Minute) // since the call above
	if o.role(t, idle) == "" {
		t.Fatal("a request must begin the idle time anew")
	}
	o.pass(2*time.Hour + time.Second)
	if o.role(t, idle) != "" {
		t.Error("still signed in after its idle time")
	}
	busy := o.signIn(t, "ada", "bosses").Token
	for range 11 {
		o.pass(time.Hour)
		if o.role(t, busy) == "" {
			t.Fatal("signed out in use")
		}
	}
	o.pass(time.Hour + time.Second)
	if o.role(t, busy) != "" {
		t.Error("still signed in after 12 hours")
	}
}

// key is an API key of a tenant with the scope admin.
func key(tenant workspaces.TenantID) workspaces.Principal {
	return workspaces.Principal{TenantID: tenant, KeyID: "key_1", Scope: workspaces.ScopeAdmin}
}

func TestChangesCountAtOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.signIn(t, "ada", "bosses")
	bob := o.signIn(t, "bob", "support")
	owner, err := o.Authenticate(t.Context(), ada.Token.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	update := func(change people.Change) people.Person {
		t.Helper()
		changed, err := o.Update(t.Context(), owner, bob.Person.ID, change)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	update(people.Change{AssignedRole: new(workspaces.RoleAnalyst)})
	if got := o.role(t, bob.Token); got != workspaces.RoleAnalyst {
		t.Errorf("after another role: got %q", got)
	}
	if again := o.signIn(t, "bob", "bosses"); again.Person.Role() != workspaces.RoleAnalyst || again.Person.GroupRole != workspaces.RoleOwner {
		t.Errorf("an assigned role must stay when the groups change: %+v", again.Person)
	}
	update(people.Change{AssignedRole: new(workspaces.Role(""))})
	if got := o.role(t, bob.Token); got != workspaces.RoleOwner {
		t.Errorf("back to the groups: got %q", got)
	}
	if changed := update(people.Change{Disabled: new(true)}); changed.SignIns != 0 || o.role(t, bob.Token) != "" {
		t.Errorf("disabled and still signed in: %+v", changed)
	}
	update(people.Change{Disabled: new(false)})
	if o.role(t, bob.Token) != "" {
		t.Error("enabling must not revive sign-ins")
	}
	token := o.signIn(t, "bob", "support").Token
	for range 2 { // repeating is no error
		if err := o.Delete(t.Context(), owner, bob.Person.ID); err != nil {
			t.Fatal(err)
		}
	}
	if o.role(t, token) != "" {
		t.Error("deleted and still signed in")
	}
	if back := o.signIn(t, "bob", "support"); back.Person.ID == bob.Person.ID {
		t.Error("somebody who was forgotten has the old id")
	}
}

func TestLastOwner(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.signIn(t, "ada", "bosses")
	owner, err := o.Authenticate(t.Context(), ada.Token.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if fault.ReasonOf(err) != fault.PersonIsLastOwner {
			t.Errorf("%s: got %v", what, err)
		}
	}
	try := func(change people.Change) error {
		_, err := o.Update(t.Context(), owner, ada.Person.ID, change)
		return err
	}
	refused("demoting", try(people.Change{AssignedRole: new(workspaces.RoleBilling)}))
	refused("disabling", try(people.Change{Disabled: new(true)}))
	refused("deleting", o.Delete(t.Context(), owner, ada.Person.ID))
	if err := try(people.Change{AssignedRole: new(workspaces.RoleOwner)}); err != nil {
		t.Errorf("staying an owner: %v", err)
	}
	bob := o.signIn(t, "bob", "bosses")
	if _, err := o.Update(t.Context(), owner, bob.Person.ID, people.Change{Disabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	refused("demoting beside a disabled owner", try(people.Change{AssignedRole: new(workspaces.RoleNone)}))
	if _, err := o.Update(t.Context(), owner, bob.Person.ID, people.Change{Disabled: new(false)}); err != nil {
		t.Fatal(err)
	}
	if err := try(people.Change{AssignedRole: new(workspaces.RoleNone)}); err != nil {
		t.Errorf("demoting beside another owner: %v", err)
	}
	if err := o.Delete(t.Context(), key(o.tenant), bob.Person.ID); err != nil {
		t.Errorf("a key deletes the last owner: %v", err)
	}
}

func TestTenants(t *testing.T) {
	t.Parallel()
	o := open(t)
	ada := o.signIn(t, "ada", "bosses")
	other, err := o.tenants.CreateTenant(t.Context(), "Zeta", "free")
	if err != nil {
		t.Fatal(err)
	}
	stranger := key(other.Tenant.ID)
	_, err = o.Get(t.Context(), stranger, ada.Person.ID)
	wantNotFound(t, err)
	_, err = o.Update(t.Context(), stranger, ada.Person.ID, people.Change{Disabled: new(true)})
	wantNotFound(t, err)
	wantNotFound(t, o.Delete(t.Context(), stranger, ada.Person.ID))
	if found, _, err := o.List(t.Context(), stranger, postgres.PageParams{}); err != nil || len(found) > 0 {
		t.Errorf("another tenant lists %v, %v", found, err)
	}
	if found, _, err := o.List(t.Context(), key(o.tenant), postgres.PageParams{}); err != nil || len(found) != 1 || found[0].SignIns != 1 {
		t.Errorf("got %v, %v", found, err)
	}
	if result, err := o.Finish(t.Context(), o.begin(t, "bob", "bosses")); err != nil || result.Refused != people.NoTenant {
		t.Errorf("with two tenants and none named: got %q, %v", result.Refused, err)
	}
	for _, name := range []string{"Zeta", string(other.Tenant.ID)} {
		o.Service = o.service(t, name)
		if result := o.signIn(t, "ada", "bosses"); result.Person.TenantID != other.Tenant.ID || result.Person.ID == ada.Person.ID {
			t.Errorf("%s: signed in as %+v", name, result.Person)
		}
	}
}

func wantNotFound(t *testing.T, err error) {
	t.Helper()
	if fault.ReasonOf(err) != fault.ResourceNotFound {
		t.Errorf("got %v, want not-found", err)
	}
}

func TestCheckReturn(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/console/": "/console/", "/console/#/agents/agt_1?tab=x": "/console/#/agents/agt_1?tab=x", "/console/?a=b#/x": "/console/?a=b#/x",
		"": "/console/", "https://evil.example/console/": "/console/", "//evil.example/console/": "/console/",
		"/console/../evil": "/console/", "/console//evil.example": "/console/", `/console/\evil.example`: "/console/",
		"/console/auth/logout": "/console/", "/v1/tenant": "/console/", "javascript:alert(1)": "/console/",
		"/console/\r\nSet-Cookie: a":  "/console/",
		"/console/%2e%2e/%2e%2e/evil": "/console/", "console/": "/console/", "/consolex/": "/console/",
	} {
		if got := people.CheckReturn(address); got != want {
			t.Errorf("CheckReturn(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	roles, err := people.ParseRoles([]string{"money=billing", "cn=a,dc=b=analyst", "support = operator"}, "analyst")
	if err != nil {
		t.Fatal(err)
	}
	for want, groups := range map[workspaces.Role][]string{
		"operator": {"money", "support"}, "billing": {"money", "x"}, "analyst": {"x"},
	} {
		if got := roles.Of(groups); got != want {
			t.Errorf("%v: got %q, want %q", groups, got, want)
		}
	}
	if got := (people.Roles{}).Of([]string{"support"}); got != workspaces.RoleNone {
		t.Errorf("without a configuration: got %q", got)
	}
	for _, part := range []string{"support", "=owner", "support=king", "support=none"} {
		if _, err := people.ParseRoles([]string{part}, ""); err == nil {
			t.Errorf("%q was taken", part)
		}
	}
	if _, err := people.ParseRoles([]string{"a=owner", "a=billing"}, ""); err == nil {
		t.Error("a group with two roles was taken")
	}
}

func TestCSRF(t *testing.T) {
	t.Parallel()
	token := people.CSRFToken("a")
	if !people.CheckCSRF("a", token) || people.CheckCSRF("b", token) || people.CheckCSRF("", people.CSRFToken("")) ||
		people.CheckCSRF("a", "") {
		t.Error("a CSRF token belongs to one token of a cookie")
	}
}
