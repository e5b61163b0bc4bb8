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

// Config says which server answers, and how long it is waited for.
type Config struct {
	// Name is the provider's name in errors and logs; default "openai".
	Name string
	// BaseURL ends where the API begins (…/v1), with or without a slash; default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer; empty sends none, which is right for local servers.
	APIKey string
	// KeyHeader is a header that takes the key as it is, instead of Authorization.
	KeyHeader string
	// URLFunc is where a model is asked, for servers that have it in the path; nil: BaseURL/chat/completions.
	URLFunc func(model string) string
	// Dialect is how the server differs; the zero value is any compatible server's, and OpenAI's own is
	// known by its host.
	Dialect Dialect
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
	// again. Default model.MaxRetryDelay.
	MaxRetryDelay time.Duration
}

// Dialect is how a server differs from others with this wire.
type Dialect struct {
	// CompletionTokens: an answer's limit is called max_completion_tokens.
	CompletionTokens bool
	// NoStreamOptions: it refuses stream_options, and so counts no tokens.
	NoStreamOptions bool
}

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	party    model.Party
	model    string
	dialect  Dialect
	urlFunc  func(model string) string
	timeouts model.Timeouts
	caller   apiclient.Caller
}

// New checks the configuration; nothing is sent yet.
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

// ownAPI knows OpenAI's own hosts: api.openai.com, and eu.api.openai.com and its like.
func ownAPI(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// Name is the configured name.
func (p *Provider) Name() string { return p.party.Name }

// Stream is model.Provider's.
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
	defer func() { _ = res.Body.Close() }() // read to its end or given up: nothing to do about an error
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

// read reads the answer's events to its end, or theirs. Errors: emit's, wrapped; what the server reported.
func (p *Provider) read(answer *answer, events *apiclient.Events, watch *model.Watch, emit func(model.Event) error) error {
	for !answer.done && !answer.Full() && events.Next() {
		answer.atOnce = !events.Streamed()
		text, err := p.take(answer, events.Data())
		if err != nil && answer.finished {
			return nil // all was said before
		}
		if err != nil {
			return err
		}
		if text != "" {
			watch.Pause()
			if err := emit(model.TextDelta{Text: text}); err != nil {
				return fmt.Errorf("handing on a piece of the answer: %w", err)
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

// take adds one event to the answer and returns the text in it.
func (p *Provider) take(a *answer, data []byte) (string, error) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.done = true
		return "", nil
	}
	if said, is := a.piece.read(data); is {
		return a.say(said), nil
	}
	var c chunk
	if err := json.Unmarshal(a.halves.join(data), &c); err != nil {
		// A field of another type is left at zero and the rest read: no reason to end an answer.
		mistyped, is := errors.AsType[*json.UnmarshalTypeError](err)
		if !is {
			return "", p.party.Reported(false, "an event is no JSON: "+string(data))
		}
		a.begun = a.begun || strings.HasPrefix(mistyped.Field, "choices.delta.") // a thought in a shape of its own
	}
	if c.failed() {
		return "", p.party.Reported(overloaded(data), string(data))
	}
	return a.add(&c), nil
}
