package workspaces_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
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
		turned, err := s.RotateKey(t.Context(), p, key.ID, 0)
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

// TestRotateWithOverlap rotates a key whose old secret works for an hour more.
func TestRotateWithOverlap(t *testing.T) {
	t.Parallel()
	s, _, c := open(t)
	made, p := create(t, s)
	works := func(secret seal.Secret, want bool) {
		t.Helper()
		if _, err := s.Authenticate(t.Context(), secret.Reveal()); (err == nil) != want {
			t.Errorf("at %s the secret works: %v, want %v (%v)", c.at, err == nil, want, err)
		}
	}
	rotate := func(overlap time.Duration) workspaces.MintedKey {
		t.Helper()
		key, err := s.RotateKey(t.Context(), p, made.Key.ID, overlap)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	endsAt := func(want time.Time) {
		t.Helper()
		key, err := s.Key(t.Context(), p, made.Key.ID)
		list, _, listErr := s.ListKeys(t.Context(), p, postgres.PageParams{})
		if err != nil || listErr != nil || !key.OldSecretExpiresAt.Equal(want) || !list[0].OldSecretExpiresAt.Equal(want) {
			t.Errorf("the old secret ends at %s, in the list at %v; want %s (%v, %v)", key.OldSecretExpiresAt, list, want, err, listErr)
		}
	}
	until, first := c.at.Add(time.Hour), made.Key
	second := rotate(time.Hour)
	works(first.Secret, true)
	works(second.Secret, true)
	endsAt(until)

	c.at = until.Add(-time.Microsecond)
	_, err := s.RotateKey(t.Context(), p, made.Key.ID, time.Second)
	wantReason(t, err, fault.APIKeyOverlap)
	works(first.Secret, true)
	c.at = until
	works(first.Secret, false)
	works(second.Secret, true)
	endsAt(time.Time{})

	third := rotate(workspaces.MaxOverlap)
	works(first.Secret, false)
	works(second.Secret, true)
	soon := c.at.Add(time.Minute) // a key that expires earlier ends both
	if _, err := s.UpdateKey(t.Context(), p, made.Key.ID, workspaces.UpdateKeyParams{ExpiresAt: &soon}); err != nil {
		t.Fatal(err)
	}
	endsAt(soon)
	never := time.Time{}
	if _, err := s.UpdateKey(t.Context(), p, made.Key.ID, workspaces.UpdateKeyParams{ExpiresAt: &never}); err != nil {
		t.Fatal(err)
	}
	endsAt(soon) // as was answered

	fourth := rotate(0)
	for _, ended := range []workspaces.MintedKey{first, second, third} {
		works(ended.Secret, false)
	}
	fifth := rotate(time.Hour)
	works(fourth.Secret, true)
	if err := s.DeleteKey(t.Context(), p, made.Key.ID); err != nil {
		t.Fatal(err)
	}
	works(fourth.Secret, false)
	works(fifth.Secret, false)
	for _, overlap := range []time.Duration{-time.Second, workspaces.MaxOverlap + time.Second} {
		_, err := s.RotateKey(t.Context(), p, made.Key.ID, overlap)
		wantReason(t, err, fault.InvalidRequest)
	}
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
	_, err = s.RotateKey(t.Context(), us, theirs.Key.ID, 0)
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
