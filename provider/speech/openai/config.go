package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/speech"
)

// DefaultBaseURL is OpenAI's own API.
const DefaultBaseURL = "https://api.openai.com/v1/"

// The models and voice of a Config that names none. They are OpenAI's.
const (
	DefaultTranscriber = "gpt-4o-mini-transcribe"
	DefaultSynthesizer = "gpt-4o-mini-tts"
	DefaultVoice       = "alloy"
)

// Config says which server to call. Client is required.
type Config struct {
	// Name is the name in errors and logs; default "openai".
	Name string
	// BaseURL ends where the API begins (…/v1), with or without a slash; default DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token. Empty sends none, which suits local servers.
	APIKey string
	// Model; default DefaultTranscriber or DefaultSynthesizer.
	Model string
	// Voice speaks for a Speech that names none; default DefaultVoice. Synthesizer only.
	Voice string
	// Rate is that of bare samples whose Content-Type names none; default 24000, which is OpenAI's.
	// Synthesizer only.
	Rate int
	// Client sends the requests. It must have no Timeout, which would cut streams.
	Client   *http.Client
	Timeouts speech.Timeouts
}

// server is what a checked Config is for both directions.
type server struct {
	base   *url.URL
	party  speech.Party
	config Config
}

func newServer(cfg Config, defaultModel string) (server, error) {
	if cfg.Client == nil {
		return server{}, errors.New("openai: a client is needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return server{}, fmt.Errorf("openai: %w", err)
	}
	cfg.Name, cfg.Model = cmp.Or(cfg.Name, "openai"), cmp.Or(cfg.Model, defaultModel)
	cfg.Timeouts = cfg.Timeouts.WithDefaults()
	return server{base: base, party: speech.Party{Name: cfg.Name, Secret: cfg.APIKey}, config: cfg}, nil
}

// caller posts to a path of the API.
func (s server) caller(path, accept, contentType string, standby bool) apiclient.Caller {
	retries := 0 // the default
	if standby {
		retries = -1
	}
	return apiclient.Caller{
		Client: s.config.Client, URL: s.base.JoinPath(path).String(), Header: apiclient.Header(accept, s.config.APIKey),
		ContentType: contentType, MaxRetries: retries,
	}
}

// isGPT recognises OpenAI's models of speech that are not Whisper.
func isGPT(model string) bool { return strings.HasPrefix(model, "gpt-") }
