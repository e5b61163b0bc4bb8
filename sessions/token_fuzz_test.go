package sessions

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
)

// FuzzToken checks that only minted strings are tokens, and that a token says what it was minted
// for.
func FuzzToken(f *testing.F) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	public, _ := key.Public().(ed25519.PublicKey)
	verifier := func(kid string) (ed25519.PublicKey, bool, error) { return public, kid == "ours", nil }
	session := Session{
		ID: "ses_01m7y8xf7nrm35w7apeq37ck4c", TenantID: "ten_1", WorkspaceID: "ws_1", AgentID: "agt_1", UserID: "u", Modality: "text",
		VariablesHash: "h", CreatedAt: time.Unix(1_800_000_000, 0), TokenExpiresAt: time.Unix(1_800_000_900, 0),
	}
	minted, err := mintToken(session, "ours", key)
	if err != nil {
		f.Fatal(err)
	}
	foreign, err := mintToken(session, "theirs", key)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		minted, foreign, "", ".", "..", "a.b.c", minted[:len(minted)-1], minted + "=", minted + ".",
		"eyJhbGciOiJub25lIiwia2lkIjoib3VycyJ9.eyJpc3MiOiJwYXJsYW5jZSJ9.", // alg none
		"eyJhbGciOiJIUzI1NiIsImtpZCI6Im91cnMifQ.e30.AAAA",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, token, user string) {
		said, err := readToken(token, verifier)
		if err == nil && token != minted {
			t.Fatalf("%q was not minted but gives %+v", token, said)
		}
		if err != nil && !fault.IsReason(err, fault.SessionTokenInvalid) {
			t.Fatalf("another error than session-token-invalid: %v", err)
		}
		own := session
		own.UserID = strings.ToValidUTF8(user, "?") // the contract takes UTF-8 only
		again, err := mintToken(own, "ours", key)
		if err != nil {
			t.Fatal(err)
		}
		back, err := readToken(again, verifier)
		switch {
		case err != nil && len(again) <= maxTokenBytes:
			t.Fatalf("minted for %q and refused: %v", user, err)
		case err == nil && (back.Subject != string(own.ID) || back.TenantID != own.TenantID || back.UserID != own.UserID):
			t.Fatalf("minted for %q, says %+v", user, back)
		}
		if _, err := readToken(again, func(string) (ed25519.PublicKey, bool, error) { return nil, false, errors.New("away") }); err == nil {
			t.Fatal("a token without its key was accepted")
		}
	})
}
