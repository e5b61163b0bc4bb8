package azure

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/openai"
)

// Name is the name of the provider.
const Name = "azure"

// modernVersion is the api-version from which on the dated interface counts tokens in streams and
// takes max_completion_tokens. Source: Azure OpenAI's REST reference, API version lifecycle.
const modernVersion = "2024-09-01"

// Config says which deployment to call, and how long to wait for it.
type Config struct {
	// BaseURL is the resource. The package comment has its forms. Required.
	BaseURL string
	// APIVersion selects the dated interface. Empty uses the one in BaseURL, or else the v1 interface.
	APIVersion string
	// APIKey is sent as api-key. Required.
	APIKey string
	// Deployment is used for requests that name none. Empty uses the one in BaseURL. One of both is
	// required.
	Deployment string
	// Client sends the requests. Required. It must have no Timeout, which would cut streams.
	Client *http.Client
	// Timeouts bound how long the server may be silent.
	Timeouts model.Timeouts
	// MaxRetryDelay is that of openai.Config.
	MaxRetryDelay time.Duration
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*openai.Provider, error) {
	if cfg.APIKey == "" {
		return nil, errors.New("azure: an API key is needed")
	}
	at, err := ParseBase(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	version := cmp.Or(cfg.APIVersion, at.Version)
	deployment := cmp.Or(cfg.Deployment, at.Deployment)
	if deployment == "" {
		return nil, errors.New("azure: a deployment is needed")
	}
	wired := openai.Config{
		Name: Name, BaseURL: at.Root.String(), APIKey: cfg.APIKey, KeyHeader: "Api-Key", Model: deployment,
		Client: cfg.Client, Timeouts: cfg.Timeouts, MaxRetryDelay: cfg.MaxRetryDelay,
		Dialect: openai.Dialect{CompletionTokens: true},
	}
	if version == "" {
		wired.URLFunc = func(string) string { return at.Root.JoinPath("openai/v1/chat/completions").String() }
		return openai.New(wired)
	}
	wired.Dialect.CompletionTokens = version >= modernVersion
	wired.Dialect.NoStreamOptions = version < modernVersion
	query := url.Values{"api-version": {version}}.Encode()
	wired.URLFunc = func(deployment string) string {
		return at.Root.JoinPath("openai/deployments", url.PathEscape(deployment), "chat/completions").String() + "?" + query
	}
	return openai.New(wired)
}

// Base is a parsed base URL.
type Base struct {
	// Root is the scheme, the host and the path before /openai.
	Root *url.URL
	// Deployment and Version are empty when the URL has none.
	Deployment string
	Version    string
}

// ParseBase parses a base URL in one of the forms of the package comment. Errors: the URL has
// another form.
func ParseBase(raw string) (Base, error) {
	u, err := apiclient.ParseBase(raw)
	if err != nil {
		return Base{}, err
	}
	query := u.Query()
	base := Base{Version: query.Get("api-version")}
	query.Del("api-version")
	if len(query) > 0 || u.Fragment != "" {
		return Base{}, errors.New("the base URL may have no query but api-version")
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	root, rest, found := strings.Cut(path, "/openai")
	switch name, deployed := strings.CutPrefix(rest, "/deployments/"); {
	case !found:
		root = path
	case deployed && name != "" && !strings.Contains(name, "/"):
		base.Deployment = name
	case rest != "" && rest != "/v1":
		return Base{}, fmt.Errorf("nothing of Azure's is at %s: give the resource's endpoint, or a deployment's target URI", u.Path)
	}
	if rest == "/v1" {
		base.Version = "" // v1 has previews of its own, and no dates
	}
	base.Root = &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: root}
	return base, nil
}
