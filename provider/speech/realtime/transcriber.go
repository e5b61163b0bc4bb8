package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/internal/socket"
)

// DefaultBaseURL is OpenAI's own API.
const DefaultBaseURL = "https://api.openai.com/v1/"

// DefaultModel is the model of a Config that names none.
const DefaultModel = "gpt-live-transcribe"

// wireRate is the only rate of samples that the API takes.
const wireRate = 24000

var wireFormat = audio.Format{Encoding: audio.PCM16, RateHz: wireRate}

// Config says which server to call. Client is required.
type Config struct {
	// Name is the transcriber's name in errors and logs; default "openai-realtime".
	Name string
	// BaseURL ends where the API begins (…/v1); default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token. Empty sends none.
	APIKey string
	// Model; default DefaultModel.
	Model string
	// Client makes the handshake, as that of speech.SocketClient. It must have no Timeout.
	Client   *http.Client
	Timeouts speech.Timeouts
}

const (
	// maxHints and maxHintBytes bound the hints.
	maxHints     = 50
	maxHintBytes = 60
	// maxMessageBytes bounds a message of the server.
	maxMessageBytes = 1 << 20
	// maxQueuedBytes is the longest utterance in base64, which is written at once after a fail-over.
	maxQueuedBytes = int(speech.MaxUtterance/time.Second)*wireRate*2*4/3 + 1<<20
)

// Transcriber implements speech.StreamTranscriber. It is safe for concurrent use.
type Transcriber struct {
	config Config
	url    string
	party  speech.Party
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Transcriber, error) {
	if cfg.Client == nil {
		return nil, errors.New("realtime: a client is needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("realtime: %w", err)
	}
	cfg.Name, cfg.Model = cmp.Or(cfg.Name, "openai-realtime"), cmp.Or(cfg.Model, DefaultModel)
	cfg.Timeouts = cfg.Timeouts.WithDefaults()
	return &Transcriber{
		config: cfg, url: socket.URL(base, "realtime", url.Values{"intent": {"transcription"}}),
		party: speech.Party{Name: cfg.Name, Secret: cfg.APIKey},
	}, nil
}

// Name is the configured name.
func (t *Transcriber) Name() string { return t.config.Name }

// Open implements speech.StreamTranscriber.
func (t *Transcriber) Open(ctx context.Context, o speech.StreamOptions) (speech.Stream, error) {
	resampler, err := audio.NewResampler(speech.HearingRate, wireRate)
	if err != nil {
		return nil, fmt.Errorf("resample for %s: %w", t.Name(), err)
	}
	settings, err := json.Marshal(t.settings(o.Options))
	if err != nil {
		return nil, fmt.Errorf("write the settings of a session: %w", err)
	}
	s := &stream{transcriber: t, opened: ctx, partialFunc: o.PartialFunc, resampler: resampler}
	s.conn = socket.Start(ctx, socket.Params{
		Dialer: socket.Dialer{
			Client: t.config.Client, URL: t.url, Header: apiclient.Header("application/json", t.config.APIKey),
			MaxMessageBytes: maxMessageBytes, Timeout: t.config.Timeouts.Connect, Once: o.Standby,
		},
		ReceiveFunc:    s.receive,
		MaxQueuedBytes: maxQueuedBytes,
	})
	if err := s.conn.Send(socket.Message{Data: settings, Text: true}); err != nil {
		defer s.conn.Close()
		return nil, s.failed(ctx, err)
	}
	return s, nil
}

type object = map[string]any

// settings is the event that sets up the session.
func (t *Transcriber) settings(o speech.Options) object {
	transcription := object{"model": t.config.Model}
	if base := langtag.Base(o.Language); base != "" {
		transcription["language"] = base
	}
	var hints []string
	for _, hint := range o.Hints {
		if len(hints) < maxHints && len(hint) <= maxHintBytes {
			hints = append(hints, hint)
		}
	}
	switch {
	case len(hints) == 0:
	case t.config.Model == "gpt-live-transcribe" || t.config.Model == "gpt-transcribe":
		transcription["keywords"] = hints
	default:
		transcription["prompt"] = strings.Join(hints, ", ") + "."
	}
	return object{"type": "session.update", "session": object{"type": "transcription", "audio": object{"input": object{
		"format": object{"type": "audio/pcm", "rate": wireRate}, "transcription": transcription, "turn_detection": nil,
	}}}}
}
