package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/model"
)

// DefaultBaseURL is Anthropic's own API.
const DefaultBaseURL = "https://api.anthropic.com"

// apiVersion fixes the version of the API. Source: platform.claude.com/docs, API versioning.
const apiVersion = "2023-06-01"

// Config says which server to call, and how long to wait for it.
type Config struct {
	// BaseURL is the part before /v1/messages. A trailing slash or /v1 is accepted. Default
	// DefaultBaseURL.
	BaseURL string
	// APIKey is sent as x-api-key. Required.
	APIKey string
	// Model is used for requests that name none. Required.
	Model string
	// Client sends the requests. Required. It must have no Timeout, which would cut streams.
	Client *http.Client
	// Timeouts bound how long the server may be silent.
	Timeouts model.Timeouts
	// MaxRetryDelay bounds the wait before a retry. A call is not repeated when the server asks for a
	// longer wait. Default model.MaxRetryDelay.
	MaxRetryDelay time.Duration
}

// Provider implements model.Provider. It is safe for concurrent use.
type Provider struct {
	exchange model.Exchange
	model    string
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Client == nil || cfg.Model == "" || cfg.APIKey == "" {
		return nil, errors.New("anthropic: a client, a model and an API key are needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1") + "/v1/messages"
	header := http.Header{}
	header.Set("Accept", "text/event-stream")
	header.Set("Anthropic-Version", apiVersion)
	header.Set("X-Api-Key", cfg.APIKey)
	p := &Provider{model: cfg.Model, exchange: model.Exchange{
		Party: model.Party{Name: "anthropic", Secret: cfg.APIKey}, Timeouts: cfg.Timeouts, Reasons: reasons,
		Caller: apiclient.Caller{
			Client: cfg.Client, URL: base.String(), Header: header,
			MaxRetryDelay: cmp.Or(cfg.MaxRetryDelay, model.MaxRetryDelay),
		},
	}}
	p.exchange.AddFunc = p.addEvent
	return p, nil
}

// Name is "anthropic".
func (p *Provider) Name() string { return p.exchange.Party.Name }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	req.Model = cmp.Or(req.Model, p.model)
	body, err := json.Marshal(wireRequest(req))
	if err != nil {
		return model.Result{Provider: p.Name(), Model: req.Model}, fmt.Errorf("encode the request: %w", err)
	}
	return p.exchange.Stream(ctx, req, body, emit)
}
