package oidcissuer

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/oidc"
)

// Issuer is a running issuer.
type Issuer struct {
	*mockoidc.MockOIDC

	mu     sync.Mutex
	down   bool
	asked  func(*http.Request)
	answer func(path string, body []byte) []byte
}

// Start runs an issuer for the length of the test.
func Start(t testing.TB) *Issuer {
	t.Helper()
	made, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{MockOIDC: made}
	if err := made.AddMiddleware(i.wrap); err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewUnstartedServer(nil).Listener
	if err := made.Start(listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// wrap lets the test change what is asked and answered.
func (i *Issuer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		down, asked, answer := i.down, i.asked, i.answer
		i.mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		if asked != nil {
			asked(r)
		}
		if answer == nil {
			next.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(answer(r.URL.Path, recorded.Body.Bytes())) // the caller has hung up
	})
}

// SetDown lets every request fail, or not any more.
func (i *Issuer) SetDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// OnRequest changes requests before the issuer sees them; nil: none.
func (i *Issuer) OnRequest(change func(*http.Request)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = change
}

// OnAnswer changes the bodies of answers; nil: none.
func (i *Issuer) OnAnswer(change func(path string, body []byte) []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = change
}

// TamperTokens changes one letter of the claims of every id_token, so that its signature is wrong.
func (i *Issuer) TamperTokens() {
	i.OnAnswer(func(path string, body []byte) []byte {
		at := bytes.Index(body, []byte(`"id_token":"`))
		if !strings.HasSuffix(path, mockoidc.TokenEndpoint) || at < 0 {
			return body
		}
		claims := at + bytes.IndexByte(body[at:], '.') + 20
		if body[claims] == 'A' {
			body[claims] = 'B'
		} else {
			body[claims] = 'A'
		}
		return body
	})
}

// ChangeClaims changes the claims of every id_token, whose signature is right.
func (i *Issuer) ChangeClaims(t testing.TB, change func(claims map[string]any)) {
	t.Helper()
	i.OnAnswer(func(path string, body []byte) []byte {
		var answer map[string]any
		if !strings.HasSuffix(path, mockoidc.TokenEndpoint) || json.Unmarshal(body, &answer) != nil {
			return body
		}
		signed, has := answer["id_token"].(string)
		if !has { // it refuses what it was asked
			return body
		}
		claims := jwt.MapClaims{}
		if _, _, err := jwt.NewParser().ParseUnverified(signed, claims); err != nil {
			t.Error(err)
			return body
		}
		change(claims)
		var err error
		if answer["id_token"], err = i.Keypair.SignJWT(claims); err != nil {
			t.Error(err)
		}
		if body, err = json.Marshal(answer); err != nil {
			t.Error(err)
		}
		return body
	})
}

// User is somebody who signs in, with their groups.
func User(subject string, groups ...string) *mockoidc.MockUser {
	return &mockoidc.MockUser{
		Subject: subject, Email: subject + "@example.com", EmailVerified: true, PreferredUsername: subject, Groups: groups,
	}
}

// Scopes are those that tell groups.
func Scopes() []string { return []string{"openid", "profile", "email", "groups"} }

// Config is that of a client of the issuer.
func (i *Issuer) Config() oidc.Config {
	c := i.MockOIDC.Config()
	return oidc.Config{
		URL: c.Issuer, ClientID: c.ClientID, ClientSecret: seal.Secret(c.ClientSecret), Scopes: Scopes(),
		ClientFunc: func([]string) (*http.Client, error) { return &http.Client{Transport: http.DefaultTransport}, nil },
	}
}

// Settings are environment variables of an installation whose people sign in here.
func (i *Issuer) Settings(roles string) map[string]string {
	c := i.MockOIDC.Config()
	return map[string]string{
		"PARLANCE_OIDC_ISSUER": c.Issuer, "PARLANCE_OIDC_CLIENT_ID": c.ClientID, "PARLANCE_OIDC_CLIENT_SECRET": c.ClientSecret,
		"PARLANCE_OIDC_SCOPES": strings.Join(Scopes(), ","), "PARLANCE_OIDC_ROLES": roles,
	}
}
