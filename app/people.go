package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/oidc"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/signin"
)

// OIDC is the issuer by which people sign in at the console. Without an issuer nobody does.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret seal.Secret
	// Tenant is the id or name of the tenant of people; empty: the only one.
	Tenant string
	// Name is the text of the button.
	Name        string
	GroupsClaim string
	// Roles are group=role, DefaultRole that of people in none of the groups.
	Roles       []string
	DefaultRole string
	Scopes      []string
	MaxLife     time.Duration
	MaxIdle     time.Duration
}

// oidcSettings lists the settings of the issuer.
func (c *Config) oidcSettings() []Setting {
	return group("People",
		setting("OIDC_ISSUER", "", c.parseIssuer,
			"OpenID Connect issuer by which people sign in at the console, as its discovery document names it. Default: none, and the "+
				"console asks for an API key."),
		setting("OIDC_CLIENT_ID", "", text(&c.OIDC.ClientID),
			"Client id that the issuer gave this installation. Its redirect URI is PUBLIC_URL with /console/auth/callback."),
		setting("OIDC_CLIENT_SECRET", "", text(&c.OIDC.ClientSecret), "Client secret that the issuer gave with it.").secret(),
		setting("OIDC_TENANT", "", text(&c.OIDC.Tenant),
			"Tenant that people belong to, by its id or name. Default: the only one there is."),
		setting("OIDC_NAME", "Single sign-on", text(&c.OIDC.Name), "What the console calls the issuer, on its button."),
		setting("OIDC_GROUPS_CLAIM", "groups", text(&c.OIDC.GroupsClaim),
			"Claim with the groups of a person, by dots when it is inside others: realm_access.roles."),
		setting("OIDC_ROLES", "", list(&c.OIDC.Roles),
			"Which groups give which role (owner, operator, analyst or billing), as group=role separated by commas. Who is in several "+
				"has the first of these roles."),
		setting("OIDC_DEFAULT_ROLE", "none", choice(&c.OIDC.DefaultRole, "owner", "operator", "analyst", "billing", "none"),
			"Role of people who are in none of these groups: owner, operator, analyst, billing or none."),
		setting("OIDC_SCOPES", "openid,profile,email", list(&c.OIDC.Scopes),
			"Scopes that are asked for, separated by commas; some issuers need groups for the groups."),
		setting("SIGN_IN_LIFE", "12h", duration(&c.OIDC.MaxLife),
			"How long people stay signed in, as a duration of a minute or more."),
		setting("SIGN_IN_IDLE", "2h", duration(&c.OIDC.MaxIdle),
			"How long people stay signed in without a request, as a duration of a minute or more."),
	)
}

// parseIssuer keeps the issuer byte for byte: tokens must name the same.
func (c *Config) parseIssuer(v string) error {
	var trimmed string
	if err := address(&trimmed, "http", "https")(v); err != nil {
		return err
	}
	c.OIDC.Issuer = v
	return nil
}

// minSignIn is the shortest time for which somebody is signed in: what they do is noted once a
// minute.
const minSignIn = time.Minute

// check returns an error for settings that cannot work together. It names what is missing.
func (o OIDC) check() error {
	if o.MaxLife < minSignIn || o.MaxIdle < minSignIn {
		return errors.New("PARLANCE_SIGN_IN_LIFE and PARLANCE_SIGN_IN_IDLE must be a minute or more")
	}
	if _, err := people.ParseRoles(o.Roles, o.DefaultRole); err != nil {
		return fmt.Errorf("PARLANCE_OIDC_ROLES %w", err)
	}
	set := map[string]bool{
		"PARLANCE_OIDC_ISSUER": o.Issuer != "", "PARLANCE_OIDC_CLIENT_ID": o.ClientID != "",
		"PARLANCE_OIDC_CLIENT_SECRET": o.ClientSecret.IsSet(),
	}
	var missing []string
	for _, name := range []string{"PARLANCE_OIDC_ISSUER", "PARLANCE_OIDC_CLIENT_ID", "PARLANCE_OIDC_CLIENT_SECRET"} {
		if !set[name] {
			missing = append(missing, name)
		}
	}
	begun := len(missing) < len(set) || o.Tenant != "" || len(o.Roles) > 0
	if begun && len(missing) > 0 {
		return fmt.Errorf("people can sign in only with %s too", strings.Join(missing, " and "))
	}
	if o.Issuer != "" && len(o.Roles) == 0 && (o.DefaultRole == "" || o.DefaultRole == "none") {
		return errors.New("PARLANCE_OIDC_ISSUER needs PARLANCE_OIDC_ROLES or PARLANCE_OIDC_DEFAULT_ROLE: without them nobody has a role")
	}
	return nil
}

// newIssuer opens the issuer, or returns nil when there is none. It calls nobody.
func (c Config) newIssuer(now func() time.Time) (*oidc.Issuer, error) {
	if c.OIDC.Issuer == "" {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	guard, err := c.operatorGuard()
	if err != nil {
		return nil, err
	}
	return oidc.New(oidc.Config{
		URL: c.OIDC.Issuer, ClientID: c.OIDC.ClientID, ClientSecret: c.OIDC.ClientSecret, Scopes: c.OIDC.Scopes,
		GroupsClaim: c.OIDC.GroupsClaim, Now: now,
		ClientFunc: func(bases []string) (*http.Client, error) {
			return guard.OperatorClient(bases, publicnet.ClientOptions{})
		},
	}), nil
}

// openPeople makes what people sign in with.
func (a *App) openPeople(keyring *seal.Keyring) error {
	issuer, err := a.Config.newIssuer(a.now)
	if err != nil {
		return fmt.Errorf("open the issuer of sign-ins: %w", err)
	}
	roles, err := people.ParseRoles(a.Config.OIDC.Roles, a.Config.OIDC.DefaultRole)
	if err != nil {
		return fmt.Errorf("PARLANCE_OIDC_ROLES %w", err)
	}
	a.People = people.New(people.Deps{
		DB: a.db, Workspaces: a.Workspaces, Keys: keyring, Issuer: issuer, Tenant: a.Config.OIDC.Tenant, Roles: roles,
		MaxLife: a.Config.OIDC.MaxLife, MaxIdle: a.Config.OIDC.MaxIdle, Now: a.now,
	})
	return nil
}

// signIn serves the pages by which people sign in.
func (a *App) signIn(problems problem.Writer) http.Handler {
	return signin.New(signin.Deps{
		People: a.People, Entries: a.audit, ProviderName: a.Config.OIDC.Name, Problem: problems, Log: a.log, Now: a.now,
	})
}

// CheckIssuer reads the discovery document of the configured issuer. set is false without one.
// Errors: oidc.ErrUnavailable wrapped.
func CheckIssuer(ctx context.Context, config Config) (set bool, err error) {
	issuer, err := config.newIssuer(nil)
	if issuer == nil {
		return false, err
	}
	return true, issuer.Check(ctx)
}
