package oidc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/oidc"
	"parlance.dev/parlance/test/fake/oidcissuer"
)

// TestUserInfo has an issuer whose tokens tell no groups.
func TestUserInfo(t *testing.T) {
	t.Parallel()
	issuer := oidcissuer.Start(t)
	config := issuer.Config()
	config.GroupsClaim = "phone_number" // the token lacks it, as does the answer of the endpoint
	client := oidc.New(config)
	flow := oidc.Flow{State: "s", Nonce: "n", Verifier: strings.Repeat("v", 43), RedirectURL: "https://console.example/back"}
	signIn := func() (oidc.Identity, error) {
		t.Helper()
		page, err := client.SignInURL(t.Context(), flow)
		if err != nil {
			t.Fatal(err)
		}
		issuer.QueueUser(oidcissuer.User("ada", "admins"))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // there is nothing in it
		back, err := answer.Location()
		if err != nil {
			t.Fatal(err)
		}
		return client.Exchange(t.Context(), flow, back.Query().Get("code"))
	}
	if found, err := signIn(); err != nil || found.Subject != "ada" || found.Email != "ada@example.com" || len(found.Groups) > 0 {
		t.Errorf("got %+v, %v", found, err)
	}
	issuer.OnAnswer(func(path string, body []byte) []byte {
		if strings.HasSuffix(path, "/userinfo") {
			return []byte(`{"sub":"ada","phone_number":["told elsewhere"],"email":"other@example.com"}`)
		}
		return body
	})
	found, err := signIn()
	if err != nil || len(found.Groups) != 1 || found.Groups[0] != "told elsewhere" || found.Email != "ada@example.com" {
		t.Errorf("got %+v, %v, want the groups of the endpoint and the e-mail of the token", found, err)
	}
	issuer.OnAnswer(func(path string, body []byte) []byte {
		if strings.HasSuffix(path, "/userinfo") {
			return []byte(`{"sub":"eve","phone_number":["admins"]}`)
		}
		return body
	})
	if _, err := signIn(); !errors.Is(err, oidc.ErrRefused) {
		t.Errorf("another user's claims: got %v", err)
	}
}

// TestDocuments has discovery documents that cannot be used.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"no JSON": "<html>",
		"another issuer": `{"issuer":"https://other.example","authorization_endpoint":"https://x/a","token_endpoint":"https://x/t",
			"jwks_uri":"https://x/k"}`,
		"no endpoints": `{"issuer":"ISSUER"}`,
		"too long":     `{"issuer":"ISSUER","x":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var url string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(strings.ReplaceAll(document, "ISSUER", url))) // the test would see it
			}))
			t.Cleanup(server.Close)
			url = server.URL
			client := oidc.New(oidc.Config{
				URL: url, ClientID: "x", ClientSecret: "y", ClientFunc: func([]string) (*http.Client, error) { return server.Client(), nil },
			})
			if err := client.Check(t.Context()); !errors.Is(err, oidc.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}
