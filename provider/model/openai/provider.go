package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// MaxRetries is how often a call is repeated before the first byte of its answer (after
	// connection errors, 408, 409, 429 and 5xx). Default 1, negative means never.
	MaxRetries int
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
	party    model.Party
	model    string
	dialect  Dialect
	urlFunc  func(model string) string
	timeouts model.Timeouts
	caller   apiclient.Caller
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
		party:    model.Party{Name: cmp.Or(cfg.Name, "openai"), Secret: cfg.APIKey},
		model:    cfg.Model,
		dialect:  dialect,
		urlFunc:  cfg.URLFunc,
		timeouts: cfg.Timeouts,
		caller: apiclient.Caller{
			Client: cfg.Client, URL: base.JoinPath("chat/completions").String(), Header: header,
			MaxRetries: cfg.MaxRetries, MaxRetryDelay: cmp.Or(cfg.MaxRetryDelay, model.MaxRetryDelay),
		},
	}, nil
}

// ownAPI recognises OpenAI's own hosts: api.openai.com, and regional ones like eu.api.openai.com.
func ownAPI(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// Name is the configured name.
func (p *Provider) Name() string { return p.party.Name }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	if req.Model == "" {
		req.Model = p.model
	}
	watched, watch := p.timeouts.Watch(ctx)
	defer watch.Stop()
	answer := newAnswer(req, p.party.Name)
	body, err := wireRequest(req, p.dialect).encode()
	if err != nil {
		return answer.result(), err
	}
	caller := p.caller
	if req.Standby {
		caller.MaxRetries = -1
	}
	if p.urlFunc != nil {
		caller.URL = p.urlFunc(req.Model)
	}
	res, err := caller.Post(watched, body)
	if err != nil {
		return answer.result(), p.party.Unanswered(watched, req, err)
	}
	defer func() { _ = res.Body.Close() }() // the answer has been read or given up, so an error changes nothing
	answer.opened = true
	events := apiclient.NewEvents(res.Body)
	if err := p.read(answer, events, watch, emit); err != nil {
		return answer.result(), err
	}
	whole := answer.done || answer.finished && ctx.Err() == nil
	switch err := events.Err(); {
	case whole || answer.Full():
	case err == nil && !events.Streamed():
		return answer.result(), p.party.NoStream(res.Header.Get("Content-Type"))
	default:
		return answer.result(), p.party.Broken(watched, events.Streamed(), cmp.Or(err, io.ErrUnexpectedEOF))
	}
	watch.Pause()
	result, err := answer.finish(emit)
	if err == nil && result.FinishReason == model.FinishFiltered && result.Text == "" {
		return result, p.party.Filtered()
	}
	return result, err
}

// read reads events until the answer or the stream ends. Errors: that of emit, wrapped; one that
// the server reported.
func (p *Provider) read(answer *answer, events *apiclient.Events, watch *model.Watch, emit func(model.Event) error) error {
	for !answer.done && !answer.Full() && events.Next() {
		answer.atOnce = !events.Streamed()
		text, err := p.addEvent(answer, events.Data())
		if err != nil && answer.finished {
			return nil // the answer was complete before
		}
		if err != nil {
			return err
		}
		if text != "" {
			watch.Pause()
			if err := emit(model.TextDelta{Text: text}); err != nil {
				return fmt.Errorf("emit text: %w", err)
			}
		}
		switch {
		case answer.finished:
			watch.Ended()
		case answer.begun:
			watch.Token()
		}
	}
	return nil
}

// addEvent adds one event to the answer and returns the text in it.
func (p *Provider) addEvent(a *answer, data []byte) (string, error) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.done = true
		return "", nil
	}
	var c chunk
	if err := json.Unmarshal(a.surrogates.join(data), &c); err != nil {
		// encoding/json leaves a field of another type at zero and reads the rest.
		mistyped, is := errors.AsType[*json.UnmarshalTypeError](err)
		if !is {
			return "", p.party.Reported(false, "an event is no JSON: "+string(data))
		}
		a.begun = a.begun || strings.HasPrefix(mistyped.Field, "choices.delta.") // reasoning in another form
	}
	if c.failed() {
		return "", p.party.Reported(overloaded(data), string(data))
	}
	return a.add(&c), nil
}
