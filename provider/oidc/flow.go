package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Flow is one sign-in on its way to the issuer and back. Its values are random, and known to one
// browser only.
type Flow struct {
	// State comes back beside the code, Nonce inside the token.
	State, Nonce string
	// Verifier proves to the issuer that the code comes from who asked for it (PKCE).
	Verifier string
	// RedirectURL is where the issuer sends the browser.
	RedirectURL string
}

// Identity is who the issuer says somebody is.
type Identity struct {
	// Subject is the issuer's own id of them, which never changes.
	Subject string
	// Name and Email may be empty.
	Name, Email string
	Groups      []string
}

// SignInURL returns the issuer's page for a sign-in. Errors: ErrUnavailable.
func (i *Issuer) SignInURL(ctx context.Context, f Flow) (string, error) {
	at, err := i.endpoints(ctx)
	if err != nil {
		return "", err
	}
	config := i.oauth(at, f.RedirectURL)
	return config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Exchange asks the issuer who a code is about, and checks what it answers. Errors: ErrUnavailable,
// ErrRefused.
func (i *Issuer) Exchange(ctx context.Context, f Flow, code string) (Identity, error) {
	at, err := i.endpoints(ctx)
	if err != nil {
		return Identity{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*timeout) // for the token, its keys and what is said of the user
	defer cancel()
	ctx = oidc.ClientContext(ctx, at.client)
	config := i.oauth(at, f.RedirectURL)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Identity{}, exchangeError(err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return Identity{}, fmt.Errorf("%w: it sent no id_token; is the scope openid among those that are asked for?", ErrRefused)
	}
	token, err := at.provider.Verifier(&oidc.Config{ClientID: i.config.ClientID, Now: i.config.Now}).Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return Identity{}, fmt.Errorf("%w: the id_token has another nonce", ErrRefused)
	}
	if !isSubject(token.Subject) {
		return Identity{}, fmt.Errorf("%w: the id_token has no subject that can be kept", ErrRefused)
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: read the id_token: %w", ErrRefused, err)
	}
	if err := checkAudience(token.Audience, claims, i.config.ClientID); err != nil {
		return Identity{}, err
	}
	if err := i.addUserInfo(ctx, at, tokens, token.Subject, claims); err != nil {
		return Identity{}, err
	}
	return identityOf(token.Subject, claims, i.config.GroupsClaim), nil
}

// checkAudience refuses a token that was made for another program: it names one in azp, or it is
// for several and names none. Source: OpenID Connect Core 1.0, 3.1.3.7, 3 to 5; that the audience
// contains the client was checked before.
func checkAudience(audience []string, claims map[string]any, clientID string) error {
	party, has := claims["azp"]
	switch {
	case has && party != clientID:
		return fmt.Errorf("%w: the id_token was made for another program: azp is %q", ErrRefused, party)
	case !has && len(audience) > 1:
		return fmt.Errorf("%w: the id_token is for several programs, and no azp says that it was made for this one", ErrRefused)
	}
	return nil
}

// exchangeError tells an issuer that said no from one that did not answer.
func exchangeError(err error) error {
	refused, is := errors.AsType[*oauth2.RetrieveError](err)
	if !is || refused.Response == nil || refused.Response.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%w: exchange the code: %w", ErrUnavailable, err)
	}
	// Not the body: it may repeat the code or the client's secret.
	return fmt.Errorf("%w: exchange the code: it answered %d %s", ErrRefused, refused.Response.StatusCode, refused.ErrorCode)
}

// addUserInfo adds what the issuer says of the user elsewhere, when the token does not have the
// groups: some issuers keep tokens short.
func (i *Issuer) addUserInfo(ctx context.Context, at *endpoints, tokens *oauth2.Token, subject string, claims map[string]any) error {
	if at.provider.UserInfoEndpoint() == "" || claimAt(claims, i.config.GroupsClaim) != nil {
		return nil
	}
	info, err := at.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return fmt.Errorf("%w: ask for the user's claims: %w", ErrUnavailable, err)
	}
	if info.Subject != subject {
		return fmt.Errorf("%w: it told of another user than the id_token", ErrRefused)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("%w: read the user's claims: %w", ErrRefused, err)
	}
	for name, value := range more {
		if _, has := claims[name]; !has { // the token is signed
			claims[name] = value
		}
	}
	return nil
}
