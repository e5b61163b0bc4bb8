package workspaces_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

func TestUserHashes(t *testing.T) {
	t.Parallel()
	s, db, _ := open(t)
	acme, _ := create(t, s)
	other, _ := create(t, s)
	keys := sealtest.New(t, db)
	hashes := workspaces.NewUserHashes(workspaces.UserHashesDeps{DB: db, Keys: keys})
	hash := func(t *testing.T, h *workspaces.UserHashes, tenant workspaces.TenantID, userID string) string {
		t.Helper()
		got, err := h.Hash(t.Context(), tenant, userID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	t.Run("processes that hash at the same time use one key", func(t *testing.T) {
		got := make([]string, 8)
		var running sync.WaitGroup
		for i := range got {
			running.Go(func() {
				fresh := workspaces.NewUserHashes(workspaces.UserHashesDeps{DB: db, Keys: keys})
				got[i], _ = fresh.Hash(t.Context(), acme.Tenant.ID, "user-1") // an error leaves an empty hash
			})
		}
		running.Wait()
		if len(slices.Compact(got)) != 1 || len(got[0]) != 64 {
			t.Errorf("got the hashes %q", got)
		}
	})
	t.Run("is HMAC-SHA-256 under a key that is stored sealed", func(t *testing.T) {
		got := hash(t, hashes, acme.Tenant.ID, "user-1")
		var sealed []byte
		if err := db.NewRaw("SELECT sealed FROM user_hash_keys WHERE tenant_id = ?", acme.Tenant.ID).Scan(t.Context(), &sealed); err != nil {
			t.Fatal(err)
		}
		place := seal.Binding{TenantID: string(acme.Tenant.ID), Record: string(acme.Tenant.ID), Field: "user_hash_key"}
		key, err := keys.Open(t.Context(), sealed, place)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(sealed, key) || len(key) != 32 {
			t.Errorf("a key of %d bytes is stored as %x", len(key), sealed)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("user-1"))
		if want := hex.EncodeToString(mac.Sum(nil)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("differs between users and between tenants", func(t *testing.T) {
		got := []string{
			hash(t, hashes, acme.Tenant.ID, "user-1"), hash(t, hashes, acme.Tenant.ID, "user-2"),
			hash(t, hashes, acme.Tenant.ID, "User-1"), hash(t, hashes, other.Tenant.ID, "user-1"),
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != 4 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("no user has no hash", func(t *testing.T) {
		if got := hash(t, hashes, acme.Tenant.ID, ""); got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the key goes with its tenant", func(t *testing.T) {
		if err := s.DeleteTenant(t.Context(), other.Tenant.ID); err != nil {
			t.Fatal(err)
		}
		left, err := db.NewSelect().Table("user_hash_keys").Where("tenant_id = ?", other.Tenant.ID).Count(t.Context())
		if err != nil || left != 0 {
			t.Errorf("%d keys are left (%v)", left, err)
		}
	})
}
