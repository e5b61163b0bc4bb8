package agents_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

type fixture struct {
	db     *postgres.DB
	agents *agents.Service
	ours   workspaces.Ref
	theirs workspaces.Ref
	us     workspaces.Principal
}

func open(t *testing.T) fixture {
	t.Helper()
	db := pgtest.Open(t)
	tenancy := workspaces.New(workspaces.Deps{DB: db})
	var refs [2]workspaces.Ref
	for i := range refs {
		made, err := tenancy.CreateTenant(t.Context(), "tenant", "free")
		if err != nil {
			t.Fatal(err)
		}
		refs[i] = workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	}
	return fixture{
		db: db, agents: agents.New(agents.Deps{DB: db, Workspaces: tenancy}), ours: refs[0], theirs: refs[1],
		us: workspaces.Principal{TenantID: refs[0].TenantID, Scope: workspaces.ScopeAdmin},
	}
}

func (f fixture) create(t *testing.T, config agents.Config) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), f.ours, "helper", config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func wantReason(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != reason {
		t.Errorf("got the reason %q (%v), want %q", got, err, reason)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	f := open(t)
	agent, err := f.agents.Get(t.Context(), f.ours, f.create(t, agents.Config{}).ID)
	if err != nil {
		t.Fatal(err)
	}
	c := agent.Config
	if agent.Version != 1 || c.Retrieval.TopK != 5 || c.Retrieval.Ranking != "hybrid" || c.MaxDurationSeconds != 3600 ||
		c.InjectionPolicy != agents.InjectionFlag {
		t.Errorf("got version %d, %+v", agent.Version, c)
	}
	if c.IdleTimeout("voice").Seconds() != 120 || c.IdleTimeout("text").Seconds() != 1800 {
		t.Errorf("idle time-outs are %s and %s", c.IdleTimeout("voice"), c.IdleTimeout("text"))
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(t, agents.Config{Instructions: "Be kind."}).ID
	updated, err := f.agents.Update(t.Context(), f.ours, id, func(name *string, c *agents.Config) {
		*name, c.Instructions, c.Model.Name = "renamed", "Be brief.", "m"
	})
	if err != nil || updated.Version != 2 {
		t.Fatalf("got version %d, %v", updated.Version, err)
	}
	changes, err := f.agents.Compare(t.Context(), f.ours, id, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []agents.Change{
		{Path: "instructions", From: "Be kind.", To: "Be brief."},
		{Path: "model.name", From: "", To: "m"},
		{Path: "name", From: "helper", To: "renamed"},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	back, err := f.agents.Rollback(t.Context(), f.ours, id, 1)
	if err != nil || back.Version != 3 || back.Name != "helper" || back.Config.Instructions != "Be kind." {
		t.Errorf("rolled back to %+v, %v", back, err)
	}
	first, token, err := f.agents.Versions(t.Context(), f.ours, id, postgres.PageParams{Size: 2})
	if err != nil || len(first) != 2 || first[0].Version != 3 || first[1].Version != 2 || token == "" {
		t.Fatalf("got %d versions, token %q, %v", len(first), token, err)
	}
	rest, token, err := f.agents.Versions(t.Context(), f.ours, id, postgres.PageParams{Size: 2, Token: token})
	if err != nil || len(rest) != 1 || rest[0].Config.Instructions != "Be kind." || token != "" {
		t.Errorf("got %+v, token %q, %v", rest, token, err)
	}
	same, err := f.agents.Update(t.Context(), f.ours, id, func(name *string, _ *agents.Config) { *name = "helper" })
	if err != nil || same.Version != 3 || !same.UpdatedAt.Equal(back.UpdatedAt) {
		t.Errorf("a change of nothing made version %d, %v", same.Version, err)
	}
	_, err = f.agents.Rollback(t.Context(), f.ours, id, 9)
	wantReason(t, err, fault.ResourceNotFound)
}

// TestUpdatesAtOnce: no save is lost and no version number is given twice.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(t, agents.Config{}).ID
	var group errgroup.Group
	for range 10 {
		group.Go(func() error {
			_, err := f.agents.Update(t.Context(), f.ours, id, func(_ *string, c *agents.Config) { c.Instructions += "x" })
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	agent, err := f.agents.Get(t.Context(), f.ours, id)
	if err != nil || agent.Version != 11 || agent.Config.Instructions != "xxxxxxxxxx" {
		t.Errorf("got version %d with %q, %v", agent.Version, agent.Config.Instructions, err)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.agents.Create(t.Context(), f.ours, "x", agents.Config{
		Language: "not a language", LockedOverrides: []string{"colour"},
		MaxDurationSeconds: 9, IdleTimeoutSeconds: 86_401,
	})
	wantReason(t, err, fault.InvalidRequest)
	named := map[string]bool{}
	for _, field := range fault.From(err).Fields {
		named[field.Field] = true
	}
	for _, field := range []string{
		"language", "locked_overrides[0]", "max_duration_seconds",
		"idle_timeout_seconds",
	} {
		if !named[field] {
			t.Errorf("%s is not named in %v", field, named)
		}
	}
	id := f.create(t, agents.Config{}).ID
	_, err = f.agents.Update(t.Context(), f.ours, id, func(name *string, _ *agents.Config) { *name = "" })
	wantReason(t, err, fault.InvalidRequest)
}

// TestNotBuilt: settings that nothing applies yet are refused, also by a rollback; what an earlier
// release stored is kept until it is changed.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	f := open(t)
	guards := []agents.Guard{{Name: "medical-advice", Action: "block", Examples: []string{"Take two a day."}}}
	_, err := f.agents.Create(t.Context(), f.ours, "x", agents.Config{Guards: guards})
	wantReason(t, err, fault.NotImplemented)
	if !strings.Contains(fault.From(err).Message, "guards") {
		t.Errorf("%v does not name guards", err)
	}
	id := f.create(t, agents.Config{Guards: []agents.Guard{}}).ID
	_, err = f.agents.Update(t.Context(), f.ours, id, func(_ *string, c *agents.Config) { c.Guards = guards })
	wantReason(t, err, fault.NotImplemented)
	for _, table := range []string{"agents", "agent_versions"} { // as an earlier release did
		_, err := f.db.NewRaw(`UPDATE ?0 SET config = jsonb_set(config, '{guards}', '[{"name": "medical-advice", "action": "block"}]')
			- 'injection_policy' WHERE tenant_id = ?1`, bun.Ident(table), f.ours.TenantID).Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	}
	kept, err := f.agents.Update(t.Context(), f.ours, id, func(name *string, _ *agents.Config) { *name = "renamed" })
	if err != nil || len(kept.Config.Guards) != 1 || kept.Config.InjectionPolicy != agents.InjectionFlag {
		t.Errorf("got %+v, %v", kept.Config, err)
	}
	changes, err := f.agents.Compare(t.Context(), f.ours, id, 2, 1)
	if err != nil || len(changes) != 1 || changes[0].Path != "name" {
		t.Errorf("got the changes %+v, %v", changes, err)
	}
	if _, err := f.agents.Update(t.Context(), f.ours, id, func(_ *string, c *agents.Config) { c.Guards = nil }); err != nil {
		t.Fatal(err)
	}
	_, err = f.agents.Rollback(t.Context(), f.ours, id, 2) // to a guard of nothing
	wantReason(t, err, fault.InvalidRequest)
}

// TestFatigueWindows: windows that cannot be used, limit nothing or say nothing are refused, each
// with its field.
func TestFatigueWindows(t *testing.T) {
	t.Parallel()
	f := open(t)
	for field, windows := range map[string][]agents.FatigueWindow{
		"":                     {{Window: "24h", MaxTurns: 1}, {Window: "1m", MaxMinutes: 1, Action: agents.FatigueRefuse}},
		"fatigue[0].window":    {{Window: "59s", MaxTurns: 1}},
		"fatigue[1].window":    {{Window: "60m", MaxTurns: 1}, {Window: "1h", MaxSessions: 1}},
		"fatigue[0].max_turns": {{Window: "24h"}},
		"fatigue[0].message":   {{Window: "24h", MaxTurns: 1, Action: agents.FatigueSuggest}},
	} {
		_, err := f.agents.Create(t.Context(), f.ours, "x", agents.Config{Fatigue: windows})
		if field == "" && err != nil || field != "" && (len(fault.From(err).Fields) != 1 || fault.From(err).Fields[0].Field != field) {
			t.Errorf("%+v: %v", windows, err)
		}
	}
}

func TestOthersSeeNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(t, agents.Config{}).ID
	_, err := f.agents.Get(t.Context(), f.theirs, id)
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.agents.Update(t.Context(), f.theirs, id, func(*string, *agents.Config) {})
	wantReason(t, err, fault.ResourceNotFound)
	_, _, err = f.agents.Versions(t.Context(), f.theirs, id, postgres.PageParams{})
	wantReason(t, err, fault.ResourceNotFound)
	wantReason(t, f.agents.Delete(t.Context(), f.theirs, id), fault.ResourceNotFound)
	_, err = f.agents.Find(t.Context(), workspaces.Principal{TenantID: f.theirs.TenantID}, id)
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.agents.Find(t.Context(), workspaces.Principal{TenantID: f.ours.TenantID, WorkspaceID: "ws_other"}, id)
	wantReason(t, err, fault.ResourceNotFound)
	if _, err := f.agents.Find(t.Context(), f.us, id); err != nil {
		t.Error(err)
	}
}

func TestDeleteIsRepeatable(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.create(t, agents.Config{}).ID
	for range 2 {
		if err := f.agents.Delete(t.Context(), f.ours, id); err != nil {
			t.Fatal(err)
		}
	}
	wantReason(t, f.agents.Delete(t.Context(), f.ours, "agt_never"), fault.ResourceNotFound)
}
