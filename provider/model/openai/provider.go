package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"parlance.dev/parlance/provider/model"
)

// DefaultBaseURL is OpenAI's own API.
const DefaultBaseURL = "https://api.openai.com/v1/"

// Config says which server answers, and how long it is waited for.
type Config struct {
	// Name is the provider's name in errors and logs; default "openai".
	Name string
	// BaseURL ends where the API begins (…/v1), with or without a slash; default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer; empty sends none, which is right for local servers.
	APIKey string
	// Model is asked for when a request names none. Required.
	Model string
	// Client sends the requests; required. It must have no Timeout, which would cut streams.
	Client *http.Client
	// Timeouts bound the server's silence.
	Timeouts model.Timeouts
	// MaxRetries is how often a call is repeated before its first byte (connection errors, 408,
	// 409, 429, 5xx): default 1, negative for never.
	MaxRetries int
	// MaxRetryDelay bounds the wait before a repeat; a server that asks for more is not asked
	// again. Default 2 s: a person is waiting.
	MaxRetryDelay time.Duration
}

const (
	defaultRetries       = 1
	defaultMaxRetryDelay = 2 * time.Second
)

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	party       model.Party
	model       string
	ownAPI      bool
	timeouts    model.Timeouts
	completions openai.ChatCompletionService
}

// New checks the configuration; nothing is sent yet.
func New(cfg Config) (*Provider, error) {
	if cfg.Client == nil || cfg.Model == "" {
		return nil, errors.New("openai: a client and a model are needed")
	}
	if cfg.Name == "" {
		cfg.Name = "openai"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("openai: the base URL must be http(s)://host/…, not %q", cfg.BaseURL)
	}
	// The SDK resolves paths against the base URL as browsers do: without the slash /v1 is lost.
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	options := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(cfg.Client),
		option.WithMaxRetries(retries(cfg.MaxRetries)),
		option.WithMaxRetryDelay(delay(cfg.MaxRetryDelay)),
	}
	if cfg.APIKey != "" {
		options = append(options, option.WithAPIKey(cfg.APIKey))
	}
	return &Provider{
		party:       model.Party{Name: cfg.Name, Secret: cfg.APIKey},
		model:       cfg.Model,
		ownAPI:      base.Hostname() == "api.openai.com",
		timeouts:    cfg.Timeouts,
		completions: openai.NewChatCompletionService(options...),
	}, nil
}

func retries(n int) int {
	if n == 0 {
		return defaultRetries
	}
	return max(0, n)
}

func delay(d time.Duration) time.Duration {
	if d <= 0 {
		return defaultMaxRetryDelay
	}
	return d
}

// Name is the configured name.
func (p *Provider) Name() string { return p.party.Name }

// Stream is model.Provider's.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	if req.Model == "" {
		req.Model = p.model
	}
	ctx, watch := p.timeouts.Watch(ctx)
	defer watch.Stop()
	seen := &exchange{}
	stream := p.completions.NewStreaming(ctx, p.params(req), option.WithMiddleware(seen.middleware))
	defer func() { _ = stream.Close() }() // read to its end or given up: nothing to do about an error
	answer := newAnswer(req, p.party.Name)
	for stream.Next() {
		text := answer.add(stream.Current())
		if text != "" {
			watch.Pause()
			if err := emit(model.TextDelta{Text: text}); err != nil {
				return answer.result(), fmt.Errorf("handing on a piece of the answer: %w", err)
			}
		}
		watch.Token()
	}
	if err := stream.Err(); err != nil {
		return answer.result(), p.failure(ctx, seen, watch.Begun(), err)
	}
	if !answer.finished && !seen.done() {
		return answer.result(), p.party.Broken(ctx, true, io.ErrUnexpectedEOF)
	}
	watch.Pause()
	return answer.finish(emit)
}

// failure sorts the SDK's errors: an error event, an HTTP status, or the network.
func (p *Provider) failure(ctx context.Context, seen *exchange, begun bool, err error) error {
	if reported, ok := errors.AsType[*streamError](err); ok {
		return p.party.Reported(overloaded(reported.Event.Data), reported.Message)
	}
	if seen.status >= http.StatusMultipleChoices && ctx.Err() == nil {
		return p.party.Refused(seen.status, seen.header, seen.detail(err))
	}
	return p.party.Broken(ctx, begun, err)
}
