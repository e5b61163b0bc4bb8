package people

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/oauth2"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/oidc"
	"parlance.dev/parlance/workspaces"
)

const (
	// FlowLife is how long somebody may take at the issuer's page.
	FlowLife = 10 * time.Minute
	// ConsolePath is where the console is; return addresses are in it.
	ConsolePath = "/console/"
	// maxReturnBytes bounds a return address: it has to fit into a cookie.
	maxReturnBytes = 1024
)

// Refusal is why a sign-in was refused, as pages and logs have it. Empty: it was not.
type Refusal string

// The refusals.
const (
	// Expired: the sign-in was begun too long ago, in another browser, or was ended already.
	Expired Refusal = "expired"
	// Denied: the issuer's page sent the browser back without a code.
	Denied Refusal = "issuer-denied"
	// Unproven: what the issuer answered does not prove who it is.
	Unproven Refusal = "issuer-refused"
	// Unavailable: the issuer does not answer.
	Unavailable Refusal = "issuer-unavailable"
	// NoTenant: there is no tenant for people, or several.
	NoTenant Refusal = "no-tenant"
	// NoRole: the issuer knows them, and neither their groups nor an owner give them a role.
	NoRole Refusal = "no-role"
	// Disabled: an owner has shut them out.
	Disabled Refusal = "disabled"
)

// flow is what a browser carries, sealed, while somebody is at the issuer's page.
type flow struct {
	State, Nonce, Verifier, RedirectURL, ReturnTo string
	ExpiresAt                                     time.Time
}

func (f flow) oidc() oidc.Flow {
	return oidc.Flow{State: f.State, Nonce: f.Nonce, Verifier: f.Verifier, RedirectURL: f.RedirectURL}
}

// flowPlace is what a sealed flow is bound to.
func flowPlace() seal.Binding { return seal.Binding{Record: "console sign-in", Field: "flow"} }

// CheckReturn returns a return address if it is a page of the console, and the console's first page
// for anything else, so that nobody is sent elsewhere.
func CheckReturn(address string) string {
	u, err := url.Parse(address)
	inside := err == nil && len(address) <= maxReturnBytes && u.Scheme == "" && u.Host == "" && u.User == nil && u.Opaque == "" &&
		strings.HasPrefix(u.Path, ConsolePath) && strings.TrimSuffix(u.Path, "/") == path.Clean(u.Path) &&
		!strings.HasPrefix(u.Path, ConsolePath+"auth/") && !strings.ContainsAny(address, "\\\r\n\t") && u.RawPath == ""
	if !inside {
		return ConsolePath
	}
	return address
}

// Begin begins a sign-in. It returns the issuer's page and what the browser carries until it comes
// back to redirectURL. Errors: oidc.ErrUnavailable wrapped.
func (s *Service) Begin(ctx context.Context, redirectURL, returnTo string) (page, carried string, err error) {
	f := flow{
		Verifier: oauth2.GenerateVerifier(), RedirectURL: redirectURL, ReturnTo: CheckReturn(returnTo), ExpiresAt: s.Now().Add(FlowLife),
	}
	for _, secret := range []*string{&f.State, &f.Nonce} {
		token, err := newToken(s.Random)
		if err != nil {
			return "", "", err
		}
		*secret = token.Reveal()
	}
	if page, err = s.Issuer.SignInURL(ctx, f.oidc()); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return "", "", fmt.Errorf("write a sign-in: %w", err)
	}
	sealed, err := s.Keys.Seal(ctx, text, flowPlace())
	if err != nil {
		return "", "", fmt.Errorf("seal a sign-in: %w", err)
	}
	return page, base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Callback is what the issuer's page sends the browser back with.
type Callback struct {
	// Carried is what Begin gave the browser.
	Carried string
	State   string
	Code    string
	// Error is the issuer's code of a refusal; empty when there is a Code.
	Error string
}

// Result is what came of a sign-in.
type Result struct {
	// Person is set when the issuer said who it is, also when they were refused.
	Person Person
	// Token is what the cookie holds; empty after a refusal.
	Token seal.Secret
	// ExpiresAt is when the sign-in ends at the latest.
	ExpiresAt time.Time
	// ReturnTo is where the browser goes.
	ReturnTo string
	// Refused says why nobody was signed in, and Cause what happened, for the log; both may be empty.
	Refused Refusal
	Cause   error
}

// Finish ends a sign-in. A refusal is no error. Errors: that of the database.
func (s *Service) Finish(ctx context.Context, c Callback) (Result, error) {
	f, err := s.open(ctx, c)
	if err != nil {
		return Result{Refused: Expired, Cause: err}, nil //nolint:nilerr // it is the cause of the refusal
	}
	if c.Error != "" || c.Code == "" {
		return Result{Refused: Denied, Cause: fmt.Errorf("the issuer said %q", c.Error)}, nil
	}
	identity, err := s.Issuer.Exchange(ctx, f.oidc(), c.Code)
	switch {
	case errors.Is(err, oidc.ErrRefused):
		return Result{Refused: Unproven, Cause: err}, nil
	case errors.Is(err, oidc.ErrUnavailable):
		return Result{Refused: Unavailable, Cause: err}, nil
	case err != nil:
		return Result{}, err
	}
	tenant, err := s.Workspaces.FindTenant(ctx, s.Tenant)
	if _, decided := errors.AsType[*fault.Error](err); decided {
		return Result{Refused: NoTenant, Cause: err}, nil
	}
	if err != nil {
		return Result{}, err
	}
	result, err := s.admit(ctx, tenant.ID, identity)
	result.ReturnTo = f.ReturnTo
	return result, err
}

// open reads what the browser carried, and checks that it belongs to the callback.
func (s *Service) open(ctx context.Context, c Callback) (f flow, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(c.Carried)
	if err != nil || len(sealed) == 0 {
		return flow{}, errors.New("the browser carries no sign-in")
	}
	text, err := s.Keys.Open(ctx, sealed, flowPlace())
	if err != nil {
		return flow{}, fmt.Errorf("open the sign-in: %w", err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return flow{}, fmt.Errorf("read the sign-in: %w", err)
	}
	if !s.Now().Before(f.ExpiresAt) {
		return flow{}, errors.New("the sign-in took too long")
	}
	if subtle.ConstantTimeCompare([]byte(f.State), []byte(c.State)) != 1 {
		return flow{}, errors.New("the sign-in has another state")
	}
	return f, nil
}

// admit stores who signs in and, if they may, that they are signed in. Those who may not are stored
// too, so that an owner can find them.
func (s *Service) admit(ctx context.Context, tenant workspaces.TenantID, identity oidc.Identity) (result Result, err error) {
	token, err := newToken(s.Random)
	if err != nil {
		return Result{}, err
	}
	now := s.timestamp()
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		result = Result{}
		if result.Person, err = s.storeTx(ctx, tx, tenant, identity, now); err != nil {
			return err
		}
		switch {
		case result.Person.Disabled:
			result.Refused = Disabled
			return nil
		case result.Person.Role() == workspaces.RoleNone:
			result.Refused = NoRole
			return nil
		}
		if err := deleteEndedSignIns(ctx, tx, tenant, now, s.seenAfter(now)); err != nil {
			return err
		}
		result.Token, result.ExpiresAt = token, now.Add(s.MaxLife)
		return insertSignIn(ctx, tx, signIn{
			TokenHash: hashToken(token.Reveal()), TenantID: tenant, PersonID: result.Person.ID,
			CreatedAt: now, ExpiresAt: result.ExpiresAt, LastSeenAt: now,
		})
	})
	return result, err
}

// storeTx writes what the issuer says of somebody.
func (s *Service) storeTx(
	ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, identity oidc.Identity, now time.Time,
) (Person, error) {
	if err := lockPeople(ctx, tx, tenant); err != nil {
		return Person{}, err
	}
	person, known, err := selectBySubject(ctx, tx, tenant, s.Issuer.URL(), identity.Subject)
	if err != nil {
		return Person{}, err
	}
	person.Name, person.Email = cmp.Or(identity.Name, identity.Email, identity.Subject), identity.Email
	person.Groups, person.GroupRole, person.SignedInAt = append([]string{}, identity.Groups...), s.Roles.Of(identity.Groups), now
	if known {
		return person, updatePerson(ctx, tx, person, "name", "email", "groups", "group_role", "signed_in_at")
	}
	person.ID, person.TenantID = ID(idgen.New(idgen.Person)), tenant
	person.Issuer, person.Subject, person.CreatedAt = s.Issuer.URL(), identity.Subject, now
	return person, insertPerson(ctx, tx, person)
}
