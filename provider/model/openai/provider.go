package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/model"
)

// DefaultBaseURL is OpenAI's own API.
const DefaultBaseURL = "https://api.openai.com/v1/"

// Config says which server to call, and how long to wait for it.
type Config struct {
	// Name is the provider's name in errors and logs; default "openai".
	Name string
	// BaseURL ends where the API begins (…/v1), with or without a slash; default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token. Empty sends none, which suits local servers.
	APIKey string
	// KeyHeader names a header that carries the bare key instead of Authorization.
	KeyHeader string
	// URLFunc returns the URL of a model, for servers that have the model in the path. nil means
	// BaseURL/chat/completions.
	URLFunc func(model string) string
	// Dialect says how the server differs. The zero value suits any compatible server. The dialect
	// of OpenAI's own API is set by its host.
	Dialect Dialect
	// Model is used for requests that name none. Required.
	Model string
	// Client sends the requests. Required. It must have no Timeout, which would cut streams.
	Client *http.Client
	// Timeouts bound how long the server may be silent.
	Timeouts model.Timeouts
	// MaxRetryDelay bounds the wait before a retry. A call is not repeated when the server asks for
	// a longer wait. Default model.MaxRetryDelay.
	MaxRetryDelay time.Duration
}

// Dialect is how a server differs from others with this API.
type Dialect struct {
	// CompletionTokens sends the limit of an answer as max_completion_tokens.
	CompletionTokens bool
	// NoStreamOptions leaves out stream_options, which the server refuses. Tokens are not counted
	// then.
	NoStreamOptions bool
}

// Provider implements model.Provider. It is safe for concurrent use.
type Provider struct {
	exchange model.Exchange
	model    string
	dialect  Dialect
	urlFunc  func(model string) string
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Client == nil || cfg.Model == "" {
		return nil, errors.New("openai: a client and a model are needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	dialect := cfg.Dialect
	dialect.CompletionTokens = dialect.CompletionTokens || ownAPI(base.Hostname())
	header := apiclient.Header("text/event-stream", cfg.APIKey)
	if cfg.KeyHeader != "" {
		header.Del("Authorization")
		header.Set(cfg.KeyHeader, cfg.APIKey)
	}
	return &Provider{
		model: cfg.Model, dialect: dialect, urlFunc: cfg.URLFunc,
		exchange: model.Exchange{
			Party: model.Party{Name: cmp.Or(cfg.Name, "openai"), Secret: cfg.APIKey}, Timeouts: cfg.Timeouts, Reasons: reasons,
			Caller: apiclient.Caller{
				Client: cfg.Client, URL: base.JoinPath("chat/completions").String(), Header: header,
				MaxRetryDelay: cmp.Or(cfg.MaxRetryDelay, model.MaxRetryDelay),
			},
		},
	}, nil
}

// ownAPI recognises OpenAI's own hosts: api.openai.com, and regional ones like eu.api.openai.com.
func ownAPI(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// Name is the configured name.
func (p *Provider) Name() string { return p.exchange.Party.Name }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	req.Model = cmp.Or(req.Model, p.model)
	body, err := wireRequest(req, p.dialect).encode()
	if err != nil {
		return model.Result{Provider: p.Name(), Model: req.Model}, err
	}
	exchange := p.exchange
	if p.urlFunc != nil {
		exchange.Caller.URL = p.urlFunc(req.Model)
	}
	exchange.AddFunc = (&decoder{party: exchange.Party}).addEvent
	return exchange.Stream(ctx, req, body, emit)
}
