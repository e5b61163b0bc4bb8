package scenario

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/oidcissuer"
	"parlance.dev/parlance/test/harness"
)

// browser is a browser with cookies at the console of an installation.
type browser struct {
	env    *harness.Env
	issuer *oidcissuer.Issuer
	client *http.Client
}

// consoleSession is the answer of /console/auth/session.
type consoleSession struct {
	SignedIn  bool   `json:"signed_in"`
	CSRFToken string `json:"csrf_token"`
	Person    *struct{ ID, Name, Email, Role string }
	Providers []struct {
		Name     string
		LoginURL string `json:"login_url"`
	}
}

func newBrowser(t *testing.T, env *harness.Env, issuer *oidcissuer.Issuer) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{env, issuer, &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// send makes a request as it is, with the browser's cookies.
func (b *browser) send(t *testing.T, method, address, body string, with ...harness.With) harness.Response {
	t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.env.URL + address
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range with {
		change(request)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // read to its end
	out := harness.Response{Status: answer.StatusCode, Header: answer.Header}
	if out.Body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(out.Body, &out.Problem) // most answers are no problem
	return out
}

// login goes to the issuer and back as somebody, and returns where the browser ends.
func (b *browser) login(t *testing.T, subject string, groups ...string) (location string) {
	t.Helper()
	page := b.send(t, "GET", "/console/auth/login?return_to="+url.QueryEscape("/console/#/sessions"), "").Must(t, 302).Header.Get("Location")
	b.issuer.QueueUser(oidcissuer.User(subject, groups...))
	back := b.send(t, "GET", page, "").Must(t, 302).Header.Get("Location")
	return b.send(t, "GET", back, "").Must(t, 302).Header.Get("Location")
}

// session asks who is signed in.
func (b *browser) session(t *testing.T) (found consoleSession) {
	t.Helper()
	answer := b.send(t, "GET", "/console/auth/session", "").Must(t, 200)
	if err := json.Unmarshal(answer.Body, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// call makes a Connect call as the console's pages do, with changes. The name is Service/Method.
func (b *browser) call(t *testing.T, name, body string, with ...harness.With) harness.Response {
	t.Helper()
	csrf := b.session(t).CSRFToken
	return b.send(t, "POST", "/parlance.v1."+name, body, append([]harness.With{
		harness.Header("Content-Type", "application/json"), harness.Header("Sec-Fetch-Site", "same-origin"),
		harness.Header("X-Parlance-CSRF", csrf),
	}, with...)...)
}

// signedIn is a new browser in which somebody is signed in.
func (b *browser) signedIn(t *testing.T, subject string, groups ...string) *browser {
	t.Helper()
	other := newBrowser(t, b.env, b.issuer)
	if location := other.login(t, subject, groups...); location != "../#/sessions" {
		t.Fatalf("%s ended at %s", subject, location)
	}
	return other
}
