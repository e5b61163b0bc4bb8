package numbers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/workspaces"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.params()
	p.LookupURL = f.customer.URL + "/callers"
	made := f.create(p)
	secret := made.Secret.Reveal()
	if made.PhoneNumber != "+4930123456" || made.AgentID != f.agent || made.Name != "Berlin" || !made.Enabled || !made.Configured ||
		made.LookupURL != p.LookupURL || made.DynamicVariables["city"] != "Berlin" || made.CreatedAt.IsZero() {
		t.Errorf("made: %+v", made.Number)
	}
	if !strings.HasPrefix(secret, "whsec_") || made.SecretHint != secret[len(secret)-4:] ||
		strings.Contains(string(made.SealedSecret), secret) {
		t.Errorf("the hint is %q of a secret of %d characters", made.SecretHint, len(secret))
	}
	want := "https://parlance.example/carriers/switchboard/" + string(made.ID)
	if made.ConfigureURL != want || f.board.urls["+4930123456"] != want {
		t.Errorf("the carrier calls %q, the number says %q, want %q", f.board.urls["+4930123456"], made.ConfigureURL, want)
	}
	got, err := f.numbers.Get(t.Context(), f.ref, made.ID)
	if diff := cmp.Diff(got, made.Number); err != nil || diff != "" {
		t.Errorf("read: %v, %s", err, diff)
	}
	found, err := f.numbers.Find(t.Context(), made.ID)
	if err != nil || found.Ref() != f.ref || found.PhoneNumber != "+4930123456" {
		t.Errorf("found: %+v, %v", found, err)
	}
	_, err = f.numbers.Find(t.Context(), numbers.ID(idgen.New(idgen.Number)))
	refused(t, "another id", err, fault.ResourceNotFound, "")
}

// TestReconfigure: a carrier that has forgotten its numbers is told of all tenants' again, also of
// those that reject calls. One that it refuses keeps no other from it.
func TestReconfigure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(f.params())
	p := f.params()
	p.PhoneNumber, p.Disabled = "+49 30 123457", true
	second := f.create(p)
	want := map[string]string{first.PhoneNumber: first.ConfigureURL, second.PhoneNumber: second.ConfigureURL}
	f.board.urls = map[string]string{}
	if err := f.numbers.Reconfigure(t.Context(), "another"); err != nil || len(f.board.urls) != 0 {
		t.Errorf("another carrier calls %v, %v", f.board.urls, err)
	}
	if err := f.numbers.Reconfigure(t.Context(), f.board.Name()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.board.urls); diff != "" {
		t.Errorf("the carrier calls (-want +got)\n%s", diff)
	}
	f.board.answers(&carrier.Refused{Code: "21404", Message: "no such number"})
	err := f.numbers.Reconfigure(t.Context(), f.board.Name())
	if err == nil || !strings.Contains(err.Error(), string(first.ID)) || !strings.Contains(err.Error(), string(second.ID)) {
		t.Errorf("it was refused: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, foreign := f.tenant()
	many := map[string]string{}
	for i := range 65 {
		many[fmt.Sprintf("v%d", i)] = ""
	}
	for name, row := range map[string]struct {
		change func(*numbers.CreateParams)
		reason fault.Reason
		field  string
	}{
		"no country": {func(p *numbers.CreateParams) { p.PhoneNumber = "030 123456" }, fault.InvalidRequest, "phone_number"},
		"letters":    {func(p *numbers.CreateParams) { p.PhoneNumber = "call me" }, fault.InvalidRequest, "phone_number"},
		"no agent":   {func(p *numbers.CreateParams) { p.AgentID = agents.ID(idgen.New(idgen.Agent)) }, fault.ResourceNotFound, "agent_id"},
		"foreign":    {func(p *numbers.CreateParams) { p.AgentID = foreign }, fault.ResourceNotFound, "agent_id"},
		"nonsense":   {func(p *numbers.CreateParams) { p.AgentID = "agt_\x00" }, fault.ResourceNotFound, "agent_id"},
		"long name":  {func(p *numbers.CreateParams) { p.Name = strings.Repeat("ä", 201) }, fault.InvalidRequest, "name"},
		"http":       {func(p *numbers.CreateParams) { p.LookupURL = "http://127.0.0.1/" }, fault.WebhookURLNotHTTPS, "lookup_url"},
		"not public": {func(p *numbers.CreateParams) { p.LookupURL = "https://10.0.0.1/" }, fault.WebhookURLNotPublic, "lookup_url"},
		"no host":    {func(p *numbers.CreateParams) { p.LookupURL = "https:///x" }, fault.InvalidRequest, "lookup_url"},
		"password":   {func(p *numbers.CreateParams) { p.LookupURL = "https://a:b@example.org/" }, fault.InvalidRequest, "lookup_url"},
		"system": {func(p *numbers.CreateParams) {
			p.DynamicVariables = map[string]string{"system__agent_id": "x"}
		}, fault.InvalidRequest, `dynamic_variables["system__agent_id"]`},
		"secret": {func(p *numbers.CreateParams) {
			p.DynamicVariables = map[string]string{"secret__key": "x"}
		}, fault.InvalidRequest, `dynamic_variables["secret__key"]`},
		"bad name": {func(p *numbers.CreateParams) {
			p.DynamicVariables = map[string]string{"a-b": "x"}
		}, fault.InvalidRequest, `dynamic_variables["a-b"]`},
		"long value": {func(p *numbers.CreateParams) {
			p.DynamicVariables = map[string]string{"a": strings.Repeat("x", 4097)}
		}, fault.InvalidRequest, `dynamic_variables["a"]`},
		"many": {func(p *numbers.CreateParams) { p.DynamicVariables = many }, fault.InvalidRequest, "dynamic_variables"},
	} {
		p := f.params()
		row.change(&p)
		_, err := f.numbers.Create(t.Context(), f.ref, p)
		told := refused(t, name, err, row.reason, row.field)
		if name == "secret" && !strings.Contains(told.Message, "secret variables come from the look-up") {
			t.Errorf("a secret: %s", told.Message)
		}
		if strings.Contains(told.Message, "parlance listen") {
			t.Errorf("%s: the advice is for endpoints of events: %s", name, told.Message)
		}
	}
	if len(f.board.urls) != 0 || len(f.list()) != 0 {
		t.Errorf("the carrier was told of %v", f.board.urls)
	}
}

// TestCarrierRefuses: what the carrier does not take is not stored.
func TestCarrierRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.board.answers(&carrier.Refused{Code: "21452", Message: "not your number"})
	_, err := f.numbers.Create(t.Context(), f.ref, f.params())
	if told := refused(t, "refused", err, fault.InvalidRequest, "phone_number"); !strings.Contains(told.Message, "not your number") {
		t.Errorf("told %q", told.Message)
	}
	f.board.answers(errors.New("connection reset"))
	_, err = f.numbers.Create(t.Context(), f.ref, f.params())
	refused(t, "failed", err, fault.UpstreamFailed, "")
	f.noCarrier = true
	_, err = f.numbers.Create(t.Context(), f.ref, f.params())
	refused(t, "no carrier", err, fault.ProviderNotConfigured, "")
	if list := f.list(); len(list) != 0 {
		t.Errorf("stored: %+v", list)
	}
	f.noCarrier = false
	f.board.answers(nil)
	made := f.create(f.params())
	f.noCarrier = true
	got, err := f.numbers.Get(t.Context(), f.ref, made.ID)
	if err != nil || got.ConfigureURL != "" || !got.Configured {
		t.Errorf("without a carrier: %+v, %v", got, err)
	}
}

// TestNameTaken: a number is there once, whatever its spelling and whoever asks for it again, and
// the carrier goes on calling for the first one. Another tenant may not call with it either.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(f.params())
	again := f.params()
	again.PhoneNumber = "+49 (30) 12-34-56"
	_, err := f.numbers.Create(t.Context(), f.ref, again)
	refused(t, "again", err, fault.NameTaken, "phone_number")
	other, agent := f.tenant()
	again.AgentID = agent
	_, err = f.numbers.Create(t.Context(), other, again)
	refused(t, "another tenant", err, fault.NameTaken, "phone_number")
	if got := f.board.urls[made.PhoneNumber]; got != made.ConfigureURL {
		t.Errorf("the carrier calls %s, want %s", got, made.ConfigureURL)
	}
	for tenant, want := range map[workspaces.TenantID]bool{f.ref.TenantID: false, other.TenantID: true} {
		if got, err := f.numbers.IsForeign(t.Context(), tenant, made.PhoneNumber); got != want || err != nil {
			t.Errorf("foreign to %s: %t, %v", tenant, got, err)
		}
	}
	if err := f.numbers.Delete(t.Context(), f.ref, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.numbers.Create(t.Context(), other, again); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

// TestRepeatedCreate: a request that is done again under its Idempotency-Key finds its number, with
// the secret that it was given.
func TestRepeatedCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := idgen.WithSeed(t.Context(), idgen.Seed{At: time.Now(), Secret: []byte("s")})
	first, err := f.numbers.Create(ctx, f.ref, f.params())
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.numbers.Create(ctx, f.ref, f.params())
	if err != nil || second.Secret != first.Secret || cmp.Diff(second.Number, first.Number) != "" {
		t.Errorf("the second is %+v, %v; want %+v", second, err, first)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(f.params())
	agent := f.addAgent(f.ref)
	changed, err := f.numbers.Update(t.Context(), f.ref, made.ID, numbers.UpdateParams{
		AgentID: &agent, Enabled: new(false), LookupURL: new(f.customer.URL), DynamicVariables: &map[string]string{"city": "Bonn"},
	})
	if err != nil || changed.AgentID != agent || changed.Enabled || changed.LookupURL != f.customer.URL || changed.Name != "Berlin" ||
		changed.DynamicVariables["city"] != "Bonn" || !changed.UpdatedAt.After(made.UpdatedAt) || changed.ConfigureURL != made.ConfigureURL {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	var none map[string]string
	changed, err = f.numbers.Update(t.Context(), f.ref, made.ID, numbers.UpdateParams{LookupURL: new(""), DynamicVariables: &none})
	if err != nil || changed.LookupURL != "" || len(changed.DynamicVariables) != 0 || changed.AgentID != agent {
		t.Errorf("emptied: %+v, %v", changed, err)
	}
	_, err = f.numbers.Update(t.Context(), f.ref, made.ID, numbers.UpdateParams{AgentID: new(agents.ID(idgen.New(idgen.Agent)))})
	refused(t, "no agent", err, fault.ResourceNotFound, "agent_id")
	_, err = f.numbers.Update(t.Context(), f.ref, made.ID, numbers.UpdateParams{LookupURL: new("http://example.org")})
	refused(t, "http", err, fault.WebhookURLNotHTTPS, "lookup_url")
	got, err := f.numbers.Get(t.Context(), f.ref, made.ID)
	if diff := cmp.Diff(got, changed); err != nil || diff != "" {
		t.Errorf("after refusals: %v, %s", err, diff)
	}
}

func TestRotateSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.params()
	p.LookupURL = f.customer.URL
	made := f.create(p)
	rotated, err := f.numbers.RotateSecret(t.Context(), f.ref, made.ID)
	if err != nil || rotated.Secret == made.Secret || !strings.HasSuffix(rotated.Secret.Reveal(), rotated.SecretHint) ||
		rotated.ConfigureURL != made.ConfigureURL {
		t.Fatalf("rotated: %+v, %v", rotated.Number, err)
	}
	f.customer.Expect(rotated.Secret.Reveal())
	number, err := f.numbers.Find(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.lookUp(number, `{}`)
	for _, request := range f.customer.Requests() {
		if request.Err != nil {
			t.Errorf("signed with the old secret: %v", request.Err)
		}
	}
}

func TestListAndDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []numbers.ID
	for i := range 3 {
		p := f.params()
		p.PhoneNumber = fmt.Sprintf("+1201555012%d", i)
		ids = append(ids, f.create(p).ID)
	}
	first, token, err := f.numbers.List(t.Context(), f.ref, postgres.PageParams{Size: 2})
	if err != nil || len(first) != 2 || first[0].ID != ids[2] || first[1].ID != ids[1] || first[0].ConfigureURL == "" {
		t.Fatalf("the first page: %+v, %v", first, err)
	}
	second, end, err := f.numbers.List(t.Context(), f.ref, postgres.PageParams{Size: 2, Token: token})
	if err != nil || len(second) != 1 || second[0].ID != ids[0] || end != "" {
		t.Errorf("the second page: %+v, %q, %v", second, end, err)
	}
	for range 2 { // a repeat is no error
		if err := f.numbers.Delete(t.Context(), f.ref, ids[0]); err != nil {
			t.Error(err)
		}
	}
	_, err = f.numbers.Find(t.Context(), ids[0])
	refused(t, "deleted", err, fault.ResourceNotFound, "")
	if len(f.board.urls) != 3 {
		t.Errorf("the carrier has %v", f.board.urls)
	}
	p := f.params()
	p.PhoneNumber = "+12015550120"
	f.create(p) // the number is free again
}

// TestOtherWorkspace: another tenant's workspace sees and changes nothing.
func TestOtherWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(f.params())
	other, _ := f.tenant()
	for name, call := range map[string]func(context.Context, workspaces.Ref) error{
		"get": func(ctx context.Context, ref workspaces.Ref) error {
			_, err := f.numbers.Get(ctx, ref, made.ID)
			return err
		},
		"update": func(ctx context.Context, ref workspaces.Ref) error {
			_, err := f.numbers.Update(ctx, ref, made.ID, numbers.UpdateParams{Enabled: new(false)})
			return err
		},
		"rotate": func(ctx context.Context, ref workspaces.Ref) error {
			_, err := f.numbers.RotateSecret(ctx, ref, made.ID)
			return err
		},
		"delete": func(ctx context.Context, ref workspaces.Ref) error { return f.numbers.Delete(ctx, ref, made.ID) },
	} {
		refused(t, name, call(t.Context(), other), fault.ResourceNotFound, "")
	}
	list, _, err := f.numbers.List(t.Context(), other, postgres.PageParams{})
	if err != nil || len(list) != 0 {
		t.Errorf("the other workspace lists %+v, %v", list, err)
	}
	if diff := cmp.Diff(f.list(), []numbers.Number{made.Number}); diff != "" {
		t.Error(diff)
	}
}
