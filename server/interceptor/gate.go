package interceptor

import (
	"context"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

// Authenticator finds the principal of a token.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (workspaces.Principal, error)
}

// Gate decides whether a call may go on: it authenticates the caller, checks the scope and takes a
// token of the rate limit.
type Gate struct {
	Policies Policies
	// Keys authenticates API keys.
	Keys Authenticator
	// Sessions authenticates session tokens; its principals have SessionID set.
	Sessions Authenticator
	// People authenticates the tokens of WithCookie; its principals have PersonID set. It may be
	// nil.
	People  Authenticator
	Limiter *Limiter
	// ReachFunc runs work that needs the database, and gives it up when the database does not
	// answer. nil runs the work directly.
	ReachFunc func(ctx context.Context, work func(ctx context.Context) error) error
	// Audit writes refusals for want of a scope into the audit log; it may be nil.
	Audit *Audit
}

// errRoleChanged ends what goes on for long: another role sees other things. Whoever calls again is
// answered as the role that they have then.
var errRoleChanged = fault.New(fault.ServiceUnavailable, "Your role has changed. Call again.")

// admittedKey marks a request that has passed the gate already, with the procedure it passed for.
type admittedKey struct{}

// Admit checks a call of procedure with the request's Authorization header, or with the cookie
// that WithCookie has taken from it, and returns the context that carries the principal, and how
// to ask for it again. It sets the RateLimit-* headers and what there is to say of a deprecated
// method on header. Errors: Unauthenticated, Forbidden auth-scope, Invalid invalid-request (the
// version), RateLimited rate-limited, Unavailable unavailable.
func (g *Gate) Admit(ctx context.Context, procedure string, request, header http.Header) (context.Context, error) {
	if admitted, _ := ctx.Value(admittedKey{}).(string); admitted == procedure {
		return ctx, nil
	}
	policy, ok := g.Policies[procedure]
	if !ok { // health, reflection, or nothing the mux has: the contract's methods have one each
		return ctx, nil
	}
	policy.Deprecation.announce(header)
	unknownVersion := checkVersion(request)
	cookie := cookieOf(ctx)
	principal, err := g.principal(ctx, policy, request, cookie)
	note(ctx, principal)
	if err != nil {
		g.audit(ctx, principal, procedure, request, err)
		return ctx, err
	}
	if unknownVersion != nil {
		return ctx, unknownVersion
	}
	if err := g.Limiter.Take(ctx, principal, policy, header); err != nil {
		return ctx, err
	}
	ctx = context.WithValue(ctx, admittedKey{}, procedure)
	ctx = workspaces.WithStanding(ctx, func(ctx context.Context) error {
		now, err := g.principal(ctx, policy, request, cookie)
		if err == nil && now.Role != principal.Role {
			return errRoleChanged
		}
		return err
	})
	return workspaces.WithPrincipal(ctx, principal), nil
}

// audit writes a refusal into the audit log when the key or the person lacks the scope. Refusals
// take tokens of the rate limit; those above it are not written.
func (g *Gate) audit(ctx context.Context, p workspaces.Principal, procedure string, request http.Header, err error) {
	if g.Audit == nil || p.KeyID == "" && p.PersonID == "" || fault.ReasonOf(err) != fault.AuthScope {
		return
	}
	if g.Limiter.Take(ctx, p, g.Policies[procedure], http.Header{}) == nil {
		g.Audit.Refused(ctx, p, procedure, request, err)
	}
}

// note puts the caller on the log lines and the span of its request.
func note(ctx context.Context, p workspaces.Principal) {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(p.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(p.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeyAPIKeyID, string(p.KeyID))
	telemetry.Note(ctx, telemetry.KeyPersonID, string(p.PersonID))
	telemetry.Note(ctx, telemetry.KeySessionID, p.SessionID)
}

func (g *Gate) principal(ctx context.Context, policy Policy, request http.Header, cookie string) (workspaces.Principal, error) {
	if cookie != "" && g.People != nil {
		principal, err := g.authenticate(ctx, g.People, cookie)
		if err != nil {
			return workspaces.Principal{}, err
		}
		return principal, policy.admitRole(principal)
	}
	token, err := workspaces.BearerToken(request.Get("Authorization"))
	if err != nil {
		return workspaces.Principal{}, err
	}
	if policy.SessionToken && looksLikeJWT(token) {
		return g.authenticate(ctx, g.Sessions, token)
	}
	principal, err := g.authenticate(ctx, g.Keys, token)
	if err != nil {
		return workspaces.Principal{}, err
	}
	return principal, principal.Require(policy.Scope)
}

func (g *Gate) authenticate(ctx context.Context, by Authenticator, token string) (principal workspaces.Principal, err error) {
	find := func(ctx context.Context) (err error) {
		principal, err = by.Authenticate(ctx, token)
		return err
	}
	if g.ReachFunc != nil {
		err = g.ReachFunc(ctx, find)
	} else {
		err = find(ctx)
	}
	if err != nil {
		return workspaces.Principal{}, decisionOf(err)
	}
	return principal, nil
}

// looksLikeJWT reports whether a token is a session token. API keys have no dots.
func looksLikeJWT(token string) bool { return strings.Count(token, ".") == 2 }

// WrapRPC puts the gate before the mux of the Connect handlers. A refusal is written in the
// caller's own protocol, before the body is read.
func (g *Gate) WrapRPC(next http.Handler, opts ...connect.HandlerOption) http.Handler {
	refusals := connect.NewErrorWriter(opts...)
	problems := problem.Writer{PublicURL: func(r *http.Request) string { return BaseURL(r.Context()) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 && isGRPC(r) {
			problems.Write(w, r, fault.New(fault.UnsupportedEncoding, "gRPC needs HTTP/2. Over HTTP/1.1 send gRPC-Web or Connect."))
			return
		}
		ctx, err := g.Admit(r.Context(), r.URL.Path, r.Header, w.Header())
		if err == nil {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		if refusals.IsSupported(r) {
			_ = refusals.Write(w, r, problem.ToConnect(fault.From(err))) // the caller has hung up
			return
		}
		problems.Write(w, r, err)
	})
}

// isGRPC reports whether a request is one of gRPC, whose answers end in trailers. Those of gRPC-Web
// are in the body.
func isGRPC(r *http.Request) bool {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind, _, _ := strings.Cut(strings.TrimSpace(media), "+")
	return kind == "application/grpc"
}
