package anthropic

import (
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
	// MaxRetries is how often a call is repeated before the first byte of its answer (after connection
	// errors, 408, 409, 429 and 5xx). Default 1, negative means never.
	MaxRetries int
	// MaxRetryDelay bounds the wait before a retry. A call is not repeated when the server asks for a
	// longer wait. Default model.MaxRetryDelay.
	MaxRetryDelay time.Duration
}

// Provider implements model.Provider. It is safe for concurrent use.
type Provider struct {
	party    model.Party
	model    string
	timeouts model.Timeouts
	caller   apiclient.Caller
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Client == nil || cfg.Model == "" || cfg.APIKey == "" {
		return nil, errors.New("anthropic: a client, a model and an API key are needed")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	base, err := apiclient.ParseBase(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	root := strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1")
	base.Path = root + "/v1/messages"
	header := http.Header{}
	header.Set("Accept", "text/event-stream")
	header.Set("Anthropic-Version", apiVersion)
	header.Set("X-Api-Key", cfg.APIKey)
	return &Provider{
		party:    model.Party{Name: "anthropic", Secret: cfg.APIKey},
		model:    cfg.Model,
		timeouts: cfg.Timeouts,
		caller: apiclient.Caller{
			Client: cfg.Client, URL: base.String(), Header: header,
			MaxRetries: cfg.MaxRetries, MaxRetryDelay: cmp.Or(cfg.MaxRetryDelay, model.MaxRetryDelay),
		},
	}, nil
}

// Name is "anthropic".
func (p *Provider) Name() string { return p.party.Name }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	if req.Model == "" {
		req.Model = p.model
	}
	watched, watch := p.timeouts.Watch(ctx)
	defer watch.Stop()
	answer := newAnswer(req, p.party.Name)
	body, err := json.Marshal(wireRequest(req))
	if err != nil {
		return answer.result(), fmt.Errorf("writing the request: %w", err)
	}
	caller := p.caller
	if req.Standby {
		caller.MaxRetries = -1
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
	whole := answer.stopped || answer.reason != "" && ctx.Err() == nil
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
	for !answer.stopped && !answer.Full() && events.Next() {
		text, err := p.addEvent(answer, events.Data())
		if err != nil && answer.reason != "" {
			return nil // the answer was complete before
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
		case answer.reason != "":
			watch.Ended()
		case answer.begun:
			watch.Token()
		}
	}
	return nil
}

// addEvent adds one event to the answer and returns the text in it.
func (p *Provider) addEvent(a *answer, data []byte) (string, error) {
	var event wireEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return "", p.party.Reported(false, "an event is no JSON: "+string(data))
	}
	if event.Type == "error" {
		kind := event.Error.Type
		return "", p.party.Reported(kind == "overloaded_error" || kind == "rate_limit_error", string(data))
	}
	return a.add(event), nil
}
