package signin

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

// Path is the prefix of the paths that the handler serves.
const Path = people.ConsolePath + "auth/"

const (
	// flowCookie carries a sign-in while the browser is at the issuer's page.
	flowCookie = "parlance_sign_in"
	// maxQueryBytes bounds what the issuer sends the browser back with.
	maxQueryBytes = 8 << 10
	// policy is the Content-Security-Policy of the answers, which are no pages.
	policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// notSecure is the code of a sign-in over http from another machine, where others could read the
// cookie.
const notSecure people.Refusal = "not-secure"

// Deps is what a Handler works with. All but Now are required.
type Deps struct {
	People  *people.Service
	Entries *audit.Service
	// ProviderName is the text of the button.
	ProviderName string
	Problem      problem.Writer
	Log          *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Handler serves the paths. Safe for concurrent use.
type Handler struct {
	Deps
	mux     *http.ServeMux
	refused refusals
}

// New makes the handler.
func New(d Deps) *Handler {
	if d.Now == nil {
		d.Now = time.Now
	}
	h := &Handler{Deps: d, mux: http.NewServeMux()}
	h.mux.HandleFunc("GET "+Path+"session", h.session)
	h.mux.HandleFunc("GET "+Path+"login", h.login)
	h.mux.HandleFunc("GET "+Path+"callback", h.callback)
	h.mux.HandleFunc("POST "+Path+"logout", h.logout)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	next, pattern := h.mux.Handler(r)
	if pattern == "" {
		h.refuse(w, r)
		return
	}
	next.ServeHTTP(w, r)
}

// refuse answers what no path or method of the handler is for.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := h.mux.Handler(other); pattern != "" {
			w.Header().Set("Allow", method)
			h.Problem.Write(w, r, fault.New(fault.MethodNotAllowedReason, "%s is not a method of this path; use %s.", r.Method, method))
			return
		}
	}
	h.Problem.Write(w, r, fault.New(fault.RouteNotFound, "There is no such page for signing in."))
}

// provider is a way to sign in.
type provider struct {
	Name     string `json:"name"`
	LoginURL string `json:"login_url"`
}

// person is who is signed in.
type person struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Role  string `json:"role"`
}

// session is the answer of the path of that name.
type session struct {
	SignedIn  bool       `json:"signed_in"`
	CSRFToken string     `json:"csrf_token"`
	Person    *person    `json:"person"`
	Providers []provider `json:"providers"`
}

// session says who is signed in. Nobody is not an error: the console asks before it shows
// anything. Only pages of this origin can read the answer, which has no CORS headers of its own,
// and a page of an origin in PARLANCE_CORS_ORIGINS is not sent a cookie with it.
func (h *Handler) session(w http.ResponseWriter, r *http.Request) {
	answer := session{Providers: []provider{}}
	if h.People.Enabled() {
		answer.Providers = append(answer.Providers, provider{Name: h.ProviderName, LoginURL: Path + "login"})
	}
	if token := interceptor.CookieToken(r); token != "" && !isCrossSite(r) {
		caller, err := h.People.Authenticate(r.Context(), token)
		var found people.Person
		if err == nil {
			found, err = h.People.Get(r.Context(), caller, caller.PersonID)
		}
		switch {
		case err == nil:
			answer.SignedIn, answer.CSRFToken = true, people.CSRFToken(token)
			answer.Person = &person{ID: string(found.ID), Name: found.Name, Email: found.Email, Role: string(found.Role())}
		case fault.From(err).Kind() != fault.Unauthenticated && fault.From(err).Kind() != fault.NotFound:
			h.Problem.Write(w, r, err)
			return
		}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		h.Problem.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // the caller has hung up
}

// isCrossSite reports whether a page of another origin made a request.
func isCrossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" || site == "" && r.Header.Get("Origin") != ""
}

// login sends the browser to the issuer's page.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	switch {
	case !h.People.Enabled():
		h.Problem.Write(w, r, fault.New(fault.RouteNotFound, "Nobody can sign in here: PARLANCE_OIDC_ISSUER is not set."))
		return
	case !mayHaveCookies(r):
		h.fail(w, r, notSecure, nil)
		return
	}
	callback := interceptor.BaseURL(r.Context()) + Path + "callback"
	page, carried, err := h.People.Begin(r.Context(), callback, h.returnTo(r))
	if err != nil {
		h.fail(w, r, people.Unavailable, err)
		return
	}
	h.setCookie(w, r, flowCookie, carried, people.FlowLife)
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusFound)
}

// returnTo returns the page of the console that the browser comes back to, without the path prefix
// under which callers know the service.
func (h *Handler) returnTo(r *http.Request) string {
	address := r.URL.Query().Get("return_to")
	if base, err := url.Parse(interceptor.BaseURL(r.Context())); err == nil && base.Path != "" {
		if inside, has := strings.CutPrefix(address, base.Path+people.ConsolePath); has {
			return people.ConsolePath + inside
		}
	}
	return address
}

// mayHaveCookies reports whether nobody can read the cookies of a request on its way: it comes over
// https, or from this machine.
func mayHaveCookies(r *http.Request) bool {
	if interceptor.IsSecure(r.Context()) {
		return true
	}
	base, err := url.Parse(interceptor.BaseURL(r.Context()))
	if err != nil {
		return false
	}
	host := base.Hostname()
	address, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && address.IsLoopback()
}

// callback takes the browser back from the issuer's page.
func (h *Handler) callback(w http.ResponseWriter, r *http.Request) {
	if !h.People.Enabled() || len(r.URL.RawQuery) > maxQueryBytes {
		h.fail(w, r, people.Expired, nil)
		return
	}
	query := r.URL.Query()
	c := people.Callback{State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error")}
	if cookie, err := r.Cookie(interceptor.SecureCookieName(r.Context(), flowCookie)); err == nil {
		c.Carried = cookie.Value
	}
	result, err := h.People.Finish(r.Context(), c)
	if err != nil {
		h.fail(w, r, people.Unavailable, err)
		return
	}
	h.setCookie(w, r, flowCookie, "", 0)
	telemetry.Note(r.Context(), telemetry.KeyPersonID, string(result.Person.ID))
	if result.Refused != "" {
		h.recordRefusal(r, result)
		h.fail(w, r, result.Refused, result.Cause)
		return
	}
	if err := h.Entries.Append(r.Context(), entry(r, result.Person, "person.sign_in", audit.Done)); err != nil {
		caller := workspaces.Principal{TenantID: result.Person.TenantID}
		_ = h.People.SignOut(context.WithoutCancel(r.Context()), caller, result.Token.Reveal()) // nobody has the token
		h.fail(w, r, people.Unavailable, err)
		return
	}
	if before := interceptor.CookieToken(r); before != "" { // this browser has one sign-in
		_ = h.People.SignOut(r.Context(), workspaces.Principal{TenantID: result.Person.TenantID}, before) // it ends by itself
	}
	h.setCookie(w, r, interceptor.CookieName, result.Token.Reveal(), result.ExpiresAt.Sub(h.Now()))
	h.goTo(w, strings.TrimPrefix(result.ReturnTo, people.ConsolePath))
}

// logout ends the sign-in. Nobody being signed in is not an error.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) {
	token := interceptor.ConsoleToken(r)
	if token == "" {
		const advice = "Signing out is for the console's own pages, with the header %s."
		h.Problem.Write(w, r, fault.New(fault.AuthMissing, advice, interceptor.CSRFHeader))
		return
	}
	caller, err := h.People.Authenticate(r.Context(), token)
	if err == nil {
		who := people.Person{ID: caller.PersonID, Name: caller.PersonName, TenantID: caller.TenantID}
		if err = h.Entries.Append(r.Context(), entry(r, who, "person.sign_out", audit.Done)); err == nil {
			err = h.People.SignOut(r.Context(), caller, token)
		}
	}
	if err != nil && fault.From(err).Kind() != fault.Unauthenticated {
		h.Problem.Write(w, r, err)
		return
	}
	h.setCookie(w, r, interceptor.CookieName, "", 0)
	w.WriteHeader(http.StatusNoContent)
}

// setCookie sets a cookie that no script can read; an empty value removes it.
func (h *Handler) setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	seconds := int(life.Seconds())
	if value == "" {
		seconds = -1
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // without Secure on this machine only: see mayHaveCookies
		Name: interceptor.SecureCookieName(r.Context(), name), Value: value, Path: "/", MaxAge: seconds,
		Secure: interceptor.IsSecure(r.Context()), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// fail sends the browser to the page of the console that says what went wrong.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, code people.Refusal, cause error) {
	h.Log.WarnContext(r.Context(), "sign-in refused", telemetry.KeyReason, string(code), telemetry.KeyError, cause)
	h.goTo(w, "#/sign-in?error="+url.QueryEscape(string(code)))
}

// goTo sends the browser to a page of the console. The address is relative, because a proxy may
// have removed a path prefix.
func (h *Handler) goTo(w http.ResponseWriter, page string) {
	w.Header().Set("Location", "../"+page)
	w.WriteHeader(http.StatusFound)
}
