package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"parlance.dev/parlance/platform/seal"
)

const (
	// timeout bounds one request to the issuer. Somebody waits for a page.
	timeout = 10 * time.Second
	// maxAnswerBytes bounds an answer of the issuer.
	maxAnswerBytes = 1 << 20
	// documentLife is how long a discovery document is used before it is read again.
	documentLife = time.Hour
)

// ErrUnavailable says that the issuer did not answer, or not as an issuer does.
var ErrUnavailable = errors.New("the issuer cannot be asked")

// ErrRefused says that the issuer, or the token that it sent, was refused: a code that was used, a
// signature, a nonce or a time that is wrong.
var ErrRefused = errors.New("the issuer's answer does not prove who it is")

// algorithms may sign a token: those with a public key.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// Config is what an Issuer is made of. All but Scopes, GroupsClaim and Now are required.
type Config struct {
	// URL is the issuer as its discovery document names it.
	URL          string
	ClientID     string
	ClientSecret seal.Secret
	// Scopes are asked for; empty: openid, profile and email.
	Scopes []string
	// GroupsClaim names the claim with the groups, by dots when it is inside others; empty: groups.
	GroupsClaim string
	// ClientFunc makes a client for requests to some hosts, which are named by URLs.
	ClientFunc func(bases []string) (*http.Client, error)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Issuer is an OpenID Connect issuer. Safe for concurrent use.
type Issuer struct {
	config  Config
	reading singleflight.Group

	mu     sync.Mutex
	known  *endpoints // nil before the document was read. Guarded by mu.
	readAt time.Time
}

// endpoints are what a discovery document leads to.
type endpoints struct {
	provider *oidc.Provider
	client   *http.Client
}

// New makes an Issuer; it asks nobody.
func New(c Config) *Issuer {
	c.GroupsClaim = cmp.Or(c.GroupsClaim, "groups")
	if len(c.Scopes) == 0 {
		c.Scopes = DefaultScopes()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Issuer{config: c}
}

// DefaultScopes are asked for when none are configured.
func DefaultScopes() []string { return []string{oidc.ScopeOpenID, "profile", "email"} }

// URL is the issuer's name.
func (i *Issuer) URL() string { return i.config.URL }

// Check reads the discovery document. Errors: ErrUnavailable.
func (i *Issuer) Check(ctx context.Context) error {
	_, err := i.read(ctx)
	return err
}

// endpoints returns what the discovery document says. A document that is old is used on when it
// cannot be read again. Errors: ErrUnavailable.
func (i *Issuer) endpoints(ctx context.Context) (*endpoints, error) {
	i.mu.Lock()
	known, fresh := i.known, i.config.Now().Sub(i.readAt) < documentLife
	i.mu.Unlock()
	if known != nil && fresh {
		return known, nil
	}
	// Whoever asks first reads for all; their hang-up must not fail the others.
	reading := i.reading.DoChan("", func() (any, error) { return i.read(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-reading:
		read, ok := result.Val.(*endpoints)
		switch {
		case result.Err == nil && ok:
			i.mu.Lock()
			i.known, i.readAt = read, i.config.Now()
			i.mu.Unlock()
			return read, nil
		case known != nil:
			return known, nil
		}
		return nil, result.Err
	}
}

// read reads the discovery document. The document is the issuer's word, and the issuer is the
// operator's choice: the endpoints that it names may be called, whatever their addresses.
func (i *Issuer) read(ctx context.Context) (*endpoints, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := i.client([]string{i.config.URL})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, client), i.config.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: read its discovery document: %w", ErrUnavailable, err)
	}
	var document oidc.ProviderConfig
	if err := found.Claims(&document); err != nil {
		return nil, fmt.Errorf("%w: read its discovery document: %w", ErrUnavailable, err)
	}
	if document.AuthURL == "" || document.TokenURL == "" || document.JWKSURL == "" {
		return nil, fmt.Errorf("%w: its discovery document lacks an endpoint for authorization, tokens or keys", ErrUnavailable)
	}
	bases := []string{i.config.URL, document.TokenURL, document.JWKSURL}
	if document.UserInfoURL != "" {
		bases = append(bases, document.UserInfoURL)
	}
	document.Algorithms = slices.DeleteFunc(document.Algorithms, func(name string) bool { return !slices.Contains(algorithms, name) })
	if client, err = i.client(bases); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return &endpoints{provider: document.NewProvider(oidc.ClientContext(ctx, client)), client: client}, nil
}

// client makes a client whose answers are bounded.
func (i *Issuer) client(bases []string) (*http.Client, error) {
	client, err := i.config.ClientFunc(bases)
	if err != nil {
		return nil, err
	}
	bounded := *client
	bounded.Timeout, bounded.Transport = timeout, boundedTransport{client.Transport}
	return &bounded, nil
}

// boundedTransport fails an answer that is too long.
type boundedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswerBytes)
	}
	return response, err
}

// oauth returns the configuration of the flow.
func (i *Issuer) oauth(at *endpoints, redirectURL string) oauth2.Config {
	return oauth2.Config{
		ClientID: i.config.ClientID, ClientSecret: i.config.ClientSecret.Reveal(), Endpoint: at.provider.Endpoint(),
		RedirectURL: redirectURL, Scopes: i.config.Scopes,
	}
}
