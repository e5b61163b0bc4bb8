package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/provider/model"
)

// DefaultBaseURL is Anthropic's own API.
const DefaultBaseURL = "https://api.anthropic.com"

// apiVersion fixes the wire. Source: platform.claude.com/docs, API versioning.
const apiVersion = "2023-06-01"

// Config says which server answers, and how long it is waited for.
type Config struct {
	// BaseURL is the part before /v1/messages; a trailing slash or /v1 is tolerated. Default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as x-api-key. Required.
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
	firstRetryDelay      = 500 * time.Millisecond
	// maxErrorBytes bounds what is read of an error's body.
	maxErrorBytes = 64 << 10
)

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	party model.Party
	url   string
	cfg   Config
}

// New checks the configuration; nothing is sent yet.
func New(cfg Config) (*Provider, error) {
	if cfg.Client == nil || cfg.Model == "" || cfg.APIKey == "" {
		return nil, errors.New("anthropic: a client, a model and an API key are needed")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("anthropic: the base URL must be http(s)://host, not %q", cfg.BaseURL)
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = defaultRetries
	}
	if cfg.MaxRetryDelay <= 0 {
		cfg.MaxRetryDelay = defaultMaxRetryDelay
	}
	root := strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1")
	base.Path = root + "/v1/messages"
	return &Provider{party: model.Party{Name: "anthropic", Secret: cfg.APIKey}, url: base.String(), cfg: cfg}, nil
}

// Name is "anthropic".
func (p *Provider) Name() string { return p.party.Name }

// Stream is model.Provider's.
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	if req.Model == "" {
		req.Model = p.cfg.Model
	}
	ctx, watch := p.cfg.Timeouts.Watch(ctx)
	defer watch.Stop()
	answer := newAnswer(req, p.party.Name)
	body, err := json.Marshal(wireRequest(req))
	if err != nil {
		return answer.result(), fmt.Errorf("writing the request: %w", err)
	}
	res, err := p.send(ctx, body)
	if err != nil {
		return answer.result(), err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: nothing to do about an error
	events := newDecoder(res.Body)
	for !answer.stopped && events.next() {
		watch.Pause()
		text, err := p.take(answer, events.data)
		if err != nil {
			return answer.result(), err
		}
		if text != "" {
			if err := emit(model.TextDelta{Text: text}); err != nil {
				return answer.result(), fmt.Errorf("handing on a piece of the answer: %w", err)
			}
		}
		watch.Token()
	}
	if !answer.stopped {
		return answer.result(), p.party.Broken(ctx, watch.Begun(), events.failure())
	}
	watch.Pause()
	return answer.finish(emit)
}

// take adds one event to the answer and returns the text in it.
func (p *Provider) take(a *answer, data []byte) (string, error) {
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

// send repeats the call before its first byte and returns a 200 whose body streams.
func (p *Provider) send(ctx context.Context, body []byte) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		res, err := p.post(ctx, body)
		if err == nil && res.StatusCode == http.StatusOK {
			return res, nil
		}
		status, header, detail := 0, http.Header(nil), ""
		if err == nil {
			status, header = res.StatusCode, res.Header
			text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes)) // half an error text is better than none
			_ = res.Body.Close()
			detail = string(text)
		}
		wait := max(firstRetryDelay<<min(attempt, 4), model.RetryAfter(header))
		tooLong := model.RetryAfter(header) > p.cfg.MaxRetryDelay
		if attempt < p.cfg.MaxRetries && repeatable(status) && !tooLong && pause(ctx, min(wait, p.cfg.MaxRetryDelay)) {
			continue
		}
		if err != nil || ctx.Err() != nil {
			return nil, p.party.Broken(ctx, false, errors.Join(err, ctx.Err()))
		}
		return nil, p.party.Refused(status, header, detail)
	}
}

func (p *Provider) post(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Anthropic-Version", apiVersion)
	req.Header.Set("X-Api-Key", p.cfg.APIKey)
	res, err := p.cfg.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	return res, nil
}

// repeatable says whether a status may be another one next time; 0 is no answer at all.
func repeatable(status int) bool {
	switch status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// pause waits, and says whether it could until the end.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
