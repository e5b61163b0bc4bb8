package workspaces_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func open(t *testing.T) (*workspaces.Service, *postgres.DB, *clock) {
	t.Helper()
	db := pgtest.Open(t)
	c := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return workspaces.New(workspaces.Deps{DB: db, Now: c.now}), db, c
}

func create(t *testing.T, s *workspaces.Service) (workspaces.Created, workspaces.Principal) {
	t.Helper()
	made, err := s.CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Authenticate(t.Context(), made.Key.Secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return made, p
}

func wantReason(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != reason {
		t.Errorf("got the reason %q (%v), want %q", got, err, reason)
	}
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	s, db, c := open(t)
	made, p := create(t, s)

	t.Run("first key is admin of its tenant", func(t *testing.T) {
		if p.TenantID != made.Tenant.ID || p.Scope != workspaces.ScopeAdmin || p.Plan != "free" || p.WorkspaceID != "" {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("only the hash is stored", func(t *testing.T) {
		var hash []byte
		if err := db.NewRaw("SELECT secret_hash FROM api_keys").Scan(t.Context(), &hash); err != nil {
			t.Fatal(err)
		}
		if len(hash) != 32 || bytes.Contains(hash, []byte("prl_")) {
			t.Errorf("stored %x", hash)
		}
	})
	t.Run("anything else is refused", func(t *testing.T) {
		secret := made.Key.Secret.Reveal()
		for _, token := range []string{"", "prl_", secret + "x", secret[:len(secret)-1], "Bearer", "ключ"} {
			_, err := s.Authenticate(t.Context(), token)
			wantReason(t, err, fault.AuthInvalidKey)
		}
	})
	t.Run("expired", func(t *testing.T) {
		key, err := s.CreateKey(t.Context(), p, workspaces.CreateKeyParams{Name: "short", ExpiresAt: c.at.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		c.at = c.at.Add(time.Hour)
		_, err = s.Authenticate(t.Context(), key.Secret.Reveal())
		wantReason(t, err, fault.AuthInvalidKey)
	})
	t.Run("rotated", func(t *testing.T) {
		key, err := s.CreateKey(t.Context(), p, workspaces.CreateKeyParams{Name: "turning"})
		if err != nil {
			t.Fatal(err)
		}
		turned, err := s.RotateKey(t.Context(), p, key.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Authenticate(t.Context(), key.Secret.Reveal())
		wantReason(t, err, fault.AuthInvalidKey)
		if _, err := s.Authenticate(t.Context(), turned.Secret.Reveal()); err != nil {
			t.Error(err)
		}
	})
	t.Run("deleted, twice", func(t *testing.T) {
		key, err := s.CreateKey(t.Context(), p, workspaces.CreateKeyParams{Name: "gone"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.DeleteKey(t.Context(), p, key.ID); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.Authenticate(t.Context(), key.Secret.Reveal())
		wantReason(t, err, fault.AuthInvalidKey)
		wantReason(t, s.DeleteKey(t.Context(), p, "key_never"), fault.ResourceNotFound)
	})
}

func TestTenantsDoNotMeet(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t)
	ours, us := create(t, s)
	theirs, them := create(t, s)

	if _, err := s.Resolve(t.Context(), us, string(ours.Workspace.ID)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Resolve(t.Context(), us, string(theirs.Workspace.ID))
	wantReason(t, err, fault.ResourceNotFound)
	wantReason(t, s.DeleteWorkspace(t.Context(), us, string(theirs.Workspace.ID)), fault.ResourceNotFound)
	_, err = s.Key(t.Context(), us, theirs.Key.ID)
	wantReason(t, err, fault.ResourceNotFound)
	_, err = s.RotateKey(t.Context(), us, theirs.Key.ID)
	wantReason(t, err, fault.ResourceNotFound)
	_, err = s.CreateKey(t.Context(), us, workspaces.CreateKeyParams{Name: "x", WorkspaceID: theirs.Workspace.ID})
	wantReason(t, err, fault.ResourceNotFound)
	list, _, err := s.ListWorkspaces(t.Context(), them, postgres.PageParams{})
	if err != nil || len(list) != 1 || list[0].ID != theirs.Workspace.ID {
		t.Errorf("they see %v, %v", list, err)
	}
}

func TestRestrictedKey(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t)
	made, admin := create(t, s)
	other, err := s.CreateWorkspace(t.Context(), admin, "other")
	if err != nil {
		t.Fatal(err)
	}
	key, err := s.CreateKey(t.Context(), admin, workspaces.CreateKeyParams{Name: "one", WorkspaceID: made.Workspace.ID})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Authenticate(t.Context(), key.Secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if p.Scope != workspaces.ScopeOperator {
		t.Errorf("the default scope is %s", p.Scope)
	}
	_, err = s.Resolve(t.Context(), p, string(other.ID))
	wantReason(t, err, fault.ResourceNotFound)
	list, _, err := s.ListWorkspaces(t.Context(), p, postgres.PageParams{})
	if err != nil || len(list) != 1 || list[0].ID != made.Workspace.ID {
		t.Errorf("it sees %v, %v", list, err)
	}
	wantReason(t, p.Require(workspaces.ScopeAdmin), fault.AuthScope)
	_, err = s.CreateKey(t.Context(), admin, workspaces.CreateKeyParams{Name: "x", WorkspaceID: made.Workspace.ID, Scope: "admin"})
	wantReason(t, err, fault.InvalidRequest)
}

func TestDeleteWorkspaceIsRepeatable(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t)
	_, admin := create(t, s)
	workspace, err := s.CreateWorkspace(t.Context(), admin, "short-lived")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.DeleteWorkspace(t.Context(), admin, string(workspace.ID)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Resolve(t.Context(), admin, string(workspace.ID))
	wantReason(t, err, fault.ResourceNotFound)
	wantReason(t, s.DeleteWorkspace(t.Context(), admin, "ws_never"), fault.ResourceNotFound)
}

func TestPlans(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t)
	made, _ := create(t, s)
	_, err := s.CreateTenant(context.Background(), "x", "platinum")
	wantReason(t, err, fault.InvalidRequest)
	if _, err := s.SetPlan(t.Context(), made.Tenant.ID, "pro"); err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan(t.Context(), made.Tenant.ID)
	if err != nil || plan.Name != "pro" || !plan.MCP {
		t.Errorf("got %+v, %v", plan, err)
	}
	_, err = s.SetPlan(t.Context(), "ten_never", "pro")
	wantReason(t, err, fault.ResourceNotFound)
	if _, err := workspaces.ParsePlans([]byte(`{"tiny": {"kb_storage_bytes": 0}}`)); err == nil {
		t.Error("a plan without storage was accepted")
	}
}
