package live_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/signing"
	"parlance.dev/parlance/turns/approvals"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/workspaces"
)

func TestToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t, func(p *sessions.CreateParams) { p.DynamicVariables = map[string]string{"plan": "gold"} })
	other := f.create(t)
	id, token := made.Session.ID, made.Token

	session, err := f.Verify(t.Context(), token, id)
	if err != nil || session.ID != id {
		t.Fatalf("its own token: %v, %v", session.ID, err)
	}
	principal, err := f.Authenticate(t.Context(), token)
	if err != nil || principal.SessionID != string(id) || principal.TenantID != f.ref.TenantID {
		t.Errorf("principal %+v, %v", principal, err)
	}
	if _, err := f.Get(t.Context(), principal, other.Session.ID); !fault.IsReason(err, fault.SessionTokenInvalid) {
		t.Errorf("a session's token reads another session: %v", err)
	}

	parts := strings.Split(token, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range []string{`"sub"`, `"tid"`, `"wid"`, `"aid"`, `"uid"`, `"mod"`, `"vars"`, `"exp"`} {
		if !strings.Contains(string(payload), claim) {
			t.Errorf("the token does not say %s: %s", claim, payload)
		}
	}
	if strings.Contains(string(payload), "gold") {
		t.Error("the token shows a variable")
	}
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	forged := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"iss": "parlance", "sub": string(id),
		"exp": time.Now().Add(time.Hour).Unix(),
	})
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	forged.Header["kid"] = parsed.Header["kid"]
	forgery, err := forged.SignedString(stranger)
	if err != nil {
		t.Fatal(err)
	}
	hmac := jwt.NewWithClaims(jwt.SigningMethodHS256, parsed.Claims)
	hmac.Header["kid"] = parsed.Header["kid"]
	confused, err := hmac.SignedString([]byte("public key as a secret"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := byte('A')
	if parts[2][5] == flipped {
		flipped = 'B'
	}
	rows := map[string]string{
		"empty":             "",
		"no token":          "hello",
		"tampered payload":  parts[0] + "." + encode(strings.Replace(string(payload), "user-1", "user-2", 1)) + "." + parts[2],
		"tampered sign":     parts[0] + "." + parts[1] + "." + parts[2][:5] + string(flipped) + parts[2][6:],
		"alg none":          encode(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + ".",
		"alg None and kid":  encode(`{"alg":"None","kid":"`+parsed.Header["kid"].(string)+`"}`) + "." + parts[1] + ".",
		"hmac":              confused,
		"another's key":     forgery,
		"another session's": other.Token,
		"a line more":       token + "\n",
		"very long":         strings.Repeat("a", 100_000),
	}
	for name, bad := range rows {
		if _, err := f.Verify(t.Context(), bad, id); !fault.IsReason(err, fault.SessionTokenInvalid) {
			t.Errorf("%s: got %v, want session-token-invalid", name, err)
		}
	}

	f.rotate(t, false)
	if _, err := f.Verify(t.Context(), token, id); err != nil {
		t.Errorf("after rotation: %v", err)
	}
	if after := f.create(t); strings.Split(after.Token, ".")[0] == parts[0] {
		t.Error("the rotated key still signs")
	}
	var inClear int
	err = f.db.NewRaw("SELECT count(*) FROM signing_keys WHERE length(private_key) <= 64").Scan(t.Context(), &inClear)
	if err != nil || inClear != 0 {
		t.Errorf("%d private keys are not sealed (%v)", inClear, err)
	}
	if _, err := f.End(t.Context(), f.principal, id, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	_, err = f.Verify(t.Context(), token, id)
	wantReason(t, err, fault.SessionClosed)
	f.clock.advance(sessions.MaxTTL)
	_, err = f.Verify(t.Context(), other.Token, "")
	wantReason(t, err, fault.SessionTokenInvalid)
}

// rotate gives the installation another signing key, which the node reads.
func (f *fixture) rotate(t *testing.T, revoke bool) {
	t.Helper()
	if _, err := signing.Rotate(t.Context(), f.db, f.keys, rand.Reader, f.clock.now(), revoke); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Minute)
}

// TestRevokedTokens: tokens of a revoked key are refused.
func TestRevokedTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	if _, err := f.Verify(t.Context(), made.Token, made.Session.ID); err != nil {
		t.Fatal(err)
	}
	f.rotate(t, true)
	after := f.create(t) // signing drops the node's cached keys
	_, err := f.Verify(t.Context(), made.Token, made.Session.ID)
	wantReason(t, err, fault.SessionTokenInvalid)
	if _, err := f.Verify(t.Context(), after.Token, after.Session.ID); err != nil {
		t.Errorf("a new token: %v", err)
	}
}

// TestReturnAfterExpiry: within DropGrace a lost socket may return although its token has expired.
func TestReturnAfterExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	first := f.join(t, f.Node, made)
	f.clock.advance(sessions.DefaultTTL + time.Second)
	if _, err := f.Verify(t.Context(), made.Token, made.Session.ID); err != nil {
		t.Errorf("while a socket is there: %v", err)
	}
	first.Leave(live.Dropped)
	f.clock.advance(sessions.DropGrace - time.Second)
	second := f.join(t, f.Node, made)
	if !second.Resumed() {
		t.Error("the session is not resumed")
	}
	second.Leave(live.Dropped)
	f.clock.advance(sessions.DropGrace + time.Second)
	_, err := f.Verify(t.Context(), made.Token, made.Session.ID)
	wantReason(t, err, fault.SessionTokenInvalid)
	if session := f.get(t, made.Session.ID); session.Status != sessions.InProgress {
		t.Fatalf("before the sweep: %s", session.Status)
	}
	f.sweep(t)
	if session := f.get(t, made.Session.ID); session.Status != sessions.Completed || session.EndReason != sessions.ReasonDisconnected {
		t.Errorf("got %s %s", session.Status, session.EndReason)
	}
}

// TestTokenOfAClosedSession: the holder of a token reads and follows the answer that ended its
// session, as the holder of a key does, and can do nothing else with it.
func TestTokenOfAClosedSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	id := made.Session.ID
	holder, err := f.Authenticate(t.Context(), made.Token)
	if err != nil {
		t.Fatal(err)
	}
	cut := &eventListener{quits: 1}
	wantReason(t, f.Stream(t.Context(), holder, id, requests.Params{Text: "/tool end_call {}"}, cut.receive), fault.CallerCanceled)
	await(t, "the end of the session", func() bool { return f.get(t, id).Closed() })
	started := cut.received()[0]

	again, err := f.Authenticate(t.Context(), made.Token)
	if err != nil || again != holder {
		t.Fatalf("the token of a closed session: %+v, %v", again, err)
	}
	for name, p := range map[string]workspaces.Principal{"the token": again, "a key": f.principal} {
		rest := &eventListener{}
		if err := f.Follow(t.Context(), p, id, started.TurnID, started.ID, rest.receive); err != nil {
			t.Errorf("%s: following: %v", name, err)
		}
		if text, types := rest.text(); text == "" || types[len(types)-1] != "done" {
			t.Errorf("%s: followed %q, %v", name, text, types)
		}
		if turn, err := f.GetTurn(t.Context(), p, id, started.TurnID); err != nil || turn.AgentText == "" {
			t.Errorf("%s: the turn %q, %v", name, turn.AgentText, err)
		}
		if turn, err := f.CancelTurn(t.Context(), p, id, started.TurnID); err != nil || turn.Status != sessions.TurnCompleted {
			t.Errorf("%s: cancelling: %s, %v", name, turn.Status, err)
		}
		_, err := f.Say(t.Context(), p, id, requests.Params{Text: "Hello?"}, nil)
		wantReason(t, err, fault.SessionClosed)
		wantReason(t, f.Stream(t.Context(), p, id, requests.Params{Text: "Hello?"}, rest.receive), fault.SessionClosed)
		_, err = f.Approvals.Decide(t.Context(), p, id, "call_00000000000000000000000000", approvals.DecideParams{Approve: true})
		wantReason(t, err, fault.ResourceNotFound)
	}
	if taken := f.transcript(t, id); len(taken) != 1 {
		t.Errorf("%d turns", len(taken))
	}
	_, err = f.Admit(t.Context(), live.AdmitParams{SessionID: id, Token: made.Token, Channel: sessions.ChatChannel})
	wantReason(t, err, fault.SessionClosed)
	f.clock.advance(sessions.DefaultTTL)
	_, err = f.Authenticate(t.Context(), made.Token)
	wantReason(t, err, fault.SessionTokenInvalid)
}
