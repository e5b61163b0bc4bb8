package deepgram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/internal/socket"
)

// DefaultBaseURL is Deepgram's own API.
const DefaultBaseURL = "https://api.deepgram.com/v1/"

// DefaultModel is the model of a Config that names none.
const DefaultModel = "nova-3"

// Config says which server to call. Client is required.
type Config struct {
	// Name is the transcriber's name in errors and logs; default "deepgram".
	Name string
	// BaseURL ends where the API begins (…/v1); default DefaultBaseURL.
	BaseURL string
	APIKey  string
	// Model; default DefaultModel.
	Model string
	// Endpointing is the silence after which Deepgram believes that the speaker has finished.
	// Default 300 ms.
	Endpointing time.Duration
	// KeepAliveEvery is how often a stream without audio is kept alive. Default 4 s; Deepgram closes
	// after 10 s.
	KeepAliveEvery time.Duration
	// Query adds parameters to the request or replaces ours, e.g. smart_format or mip_opt_out.
	Query url.Values
	// Client makes the handshake, as that of speech.SocketClient. It must have no Timeout.
	Client   *http.Client
	Timeouts speech.Timeouts
}

const (
	defaultEndpointing    = 300 * time.Millisecond
	defaultKeepAliveEvery = 4 * time.Second
	// maxHints and maxHintBytes keep the hints below Deepgram's limit of 500 tokens.
	maxHints     = 50
	maxHintBytes = 60
	// maxMessageBytes bounds a message of the server: one Results with the words of some seconds.
	maxMessageBytes = 1 << 20
	// maxQueuedBytes is the longest utterance, which is written at once after a fail-over.
	maxQueuedBytes = int(speech.MaxUtterance/time.Second) * speech.HearingRate * 2
)

// Transcriber implements speech.StreamTranscriber. It is safe for concurrent use.
type Transcriber struct {
	config Config
	base   *url.URL
	party  speech.Party
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Transcriber, error) {
	if cfg.Client == nil {
		return nil, errors.New("deepgram: a client is needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("deepgram: %w", err)
	}
	cfg.Name, cfg.Model = cmp.Or(cfg.Name, "deepgram"), cmp.Or(cfg.Model, DefaultModel)
	cfg.Endpointing = cmp.Or(max(cfg.Endpointing, 0), defaultEndpointing)
	cfg.KeepAliveEvery = cmp.Or(max(cfg.KeepAliveEvery, 0), defaultKeepAliveEvery)
	cfg.Timeouts = cfg.Timeouts.WithDefaults()
	return &Transcriber{config: cfg, base: base, party: speech.Party{Name: cfg.Name, Secret: cfg.APIKey}}, nil
}

// Name is the configured name.
func (t *Transcriber) Name() string { return t.config.Name }

// Open implements speech.StreamTranscriber.
func (t *Transcriber) Open(ctx context.Context, o speech.StreamOptions) (speech.Stream, error) {
	s := &stream{transcriber: t, opened: ctx, partialFunc: o.PartialFunc, separator: separatorOf(o.Language)}
	header := http.Header{}
	if t.config.APIKey != "" {
		header.Set("Authorization", "Token "+t.config.APIKey)
	}
	s.conn = socket.Start(ctx, socket.Params{
		Dialer: socket.Dialer{
			Client: t.config.Client, URL: socket.URL(t.base, "listen", t.query(o.Options)), Header: header,
			MaxMessageBytes: maxMessageBytes, Timeout: t.config.Timeouts.Connect, Once: o.Standby,
		},
		ReceiveFunc: s.receive,
		KeepAlive:   []byte(`{"type":"KeepAlive"}`), KeepAliveEvery: t.config.KeepAliveEvery,
		MaxQueuedBytes: maxQueuedBytes,
	})
	return s, nil
}

func (t *Transcriber) query(o speech.Options) url.Values {
	query := url.Values{
		"model": {t.config.Model}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(speech.HearingRate)}, "channels": {"1"},
		"interim_results": {"true"}, "punctuate": {"true"},
		"endpointing": {strconv.FormatInt(t.config.Endpointing.Milliseconds(), 10)},
	}
	switch {
	case o.Language != "":
		query.Set("language", o.Language)
	case strings.HasPrefix(t.config.Model, "nova-"):
		query.Set("language", "multi") // streams cannot detect a language otherwise
	}
	hints := "keywords"
	if strings.HasPrefix(t.config.Model, "nova-3") {
		hints = "keyterm"
	}
	for _, hint := range o.Hints {
		if len(query[hints]) < maxHints && len(hint) <= maxHintBytes {
			query.Add(hints, hint)
		}
	}
	for name, values := range t.config.Query {
		query[name] = values
	}
	return query
}

// separatorOf is what stands between two parts of a transcript.
func separatorOf(language string) string {
	switch langtag.Base(language) {
	case "zh", "ja", "th":
		return ""
	}
	return " "
}
