package elevenlabs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/coder/websocket"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/internal/socket"
)

// DefaultBaseURL is ElevenLabs' own API.
const DefaultBaseURL = "https://api.elevenlabs.io/v1/"

// The model and voice of a Config that names none. The voice is one of those that every account
// has.
const (
	DefaultModel = "eleven_flash_v2_5"
	DefaultVoice = "21m00Tcm4TlvDq8ikWAM"
)

// Config says which server to call. Client is required.
type Config struct {
	// Name is the synthesizer's name in errors and logs; default "elevenlabs".
	Name string
	// BaseURL ends where the API begins (…/v1); default DefaultBaseURL.
	BaseURL string
	APIKey  string
	// Model; default DefaultModel.
	Model string
	// Voice is the id of the voice for a Speech that names none; default DefaultVoice.
	Voice string
	// Rate is 16000 or 24000; default 24000.
	Rate int
	// Stability and Similarity are the voice's settings, from 0 to 1. nil: those of the voice.
	Stability, Similarity *float64
	// Client makes the handshake, as that of speech.SocketClient. It must have no Timeout.
	Client   *http.Client
	Timeouts speech.Timeouts
}

const (
	defaultRate = 24000
	// maxMessageBytes bounds a message of the server: half a minute of speech in base64.
	maxMessageBytes = 4 << 20
	// maxSpeechBytes bounds the audio of one sentence: more than ten minutes.
	maxSpeechBytes = 32 << 20
	// The speeds that ElevenLabs takes.
	minSpeed = 0.7
	maxSpeed = 1.2
)

// Synthesizer implements speech.Synthesizer. It is safe for concurrent use. Close closes the
// connections that wait for the next sentence.
type Synthesizer struct {
	config Config
	spares *spares
	base   *url.URL
	party  speech.Party
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Synthesizer, error) {
	if cfg.Client == nil {
		return nil, errors.New("elevenlabs: a client is needed")
	}
	base, err := apiclient.ParseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("elevenlabs: %w", err)
	}
	cfg.Name, cfg.Model, cfg.Voice = cmp.Or(cfg.Name, "elevenlabs"), cmp.Or(cfg.Model, DefaultModel), cmp.Or(cfg.Voice, DefaultVoice)
	if cfg.Rate = cmp.Or(cfg.Rate, defaultRate); cfg.Rate != 16000 && cfg.Rate != 24000 {
		return nil, fmt.Errorf("elevenlabs: the rate must be 16000 or 24000, not %d", cfg.Rate)
	}
	cfg.Timeouts = cfg.Timeouts.WithDefaults()
	return &Synthesizer{config: cfg, spares: newSpares(), base: base, party: speech.Party{Name: cfg.Name, Secret: cfg.APIKey}}, nil
}

// Close closes connections that nobody uses. Sentences that are being spoken go on.
func (s *Synthesizer) Close() { s.spares.close() }

// Name is the configured name.
func (s *Synthesizer) Name() string { return s.config.Name }

// Speak implements speech.Synthesizer. There are no instructions.
func (s *Synthesizer) Speak(ctx context.Context, asked speech.Speech, emit func(speech.Piece) error) error {
	if strings.TrimSpace(asked.Text) == "" {
		return nil
	}
	within, watch := s.config.Timeouts.WatchAudio(ctx)
	defer watch.Stop()
	dialer := socket.Dialer{
		Client: s.config.Client, URL: s.url(asked), Header: http.Header{}, MaxMessageBytes: maxMessageBytes,
		Timeout: s.config.Timeouts.Connect, Once: asked.Standby,
	}
	if s.config.APIKey != "" {
		dialer.Header.Set("Xi-Api-Key", s.config.APIKey)
	}
	if conn := s.spares.take(dialer.URL); conn != nil {
		begun, err := s.exchange(within, conn, asked, watch, emit)
		if err == nil {
			s.spares.refill(dialer)
		}
		if begun || err == nil || within.Err() != nil {
			return err
		}
		// The connection may have been closed while it waited.
	}
	conn, err := dialer.Dial(within)
	if err != nil {
		return s.party.Failed(within, false, err)
	}
	if _, err := s.exchange(within, conn, asked, watch, emit); err != nil {
		return err
	}
	s.spares.refill(dialer)
	return nil
}

// exchange speaks on a connection, and closes it. begun says that the server has answered.
func (s *Synthesizer) exchange(
	within context.Context, conn *websocket.Conn, asked speech.Speech, watch *speech.AudioWatch, emit func(speech.Piece) error,
) (begun bool, err error) {
	defer conn.CloseNow() //nolint:errcheck // what was needed of it is there
	for _, m := range s.messages(asked) {
		text, err := json.Marshal(m)
		if err != nil {
			return false, fmt.Errorf("write a message: %w", err)
		}
		if conn.Write(within, websocket.MessageText, text) != nil {
			break // the server may say why, so it is read
		}
	}
	return s.read(within, conn, watch, emit)
}

func (s *Synthesizer) url(asked speech.Speech) string {
	query := url.Values{
		"model_id": {s.config.Model}, "output_format": {"pcm_" + strconv.Itoa(s.config.Rate)},
		"auto_mode": {"true"}, "sync_alignment": {"true"}, "inactivity_timeout": {serverWaitsSeconds},
	}
	if base := langtag.Base(asked.Language); base != "" {
		query.Set("language_code", base)
	}
	voice := url.PathEscape(cmp.Or(asked.Voice, s.config.Voice))
	return socket.URL(s.base, "text-to-speech/"+voice+"/stream-input", query)
}

// outgoing is a message to the server.
type outgoing struct {
	Text     string         `json:"text"`
	Flush    bool           `json:"flush,omitempty"`
	Settings *voiceSettings `json:"voice_settings,omitempty"`
}

type voiceSettings struct {
	Stability  *float64 `json:"stability,omitempty"`
	Similarity *float64 `json:"similarity_boost,omitempty"`
	Speed      *float64 `json:"speed,omitempty"`
}

// messages are the beginning, the text, and the end. A text that does not end with a space might go
// on in the middle of a word.
func (s *Synthesizer) messages(asked speech.Speech) []outgoing {
	settings := voiceSettings{Stability: s.config.Stability, Similarity: s.config.Similarity}
	if asked.Speed > 0 && asked.Speed != 1 {
		settings.Speed = new(max(minSpeed, min(maxSpeed, asked.Speed)))
	}
	begin := outgoing{Text: " "}
	if settings != (voiceSettings{}) {
		begin.Settings = &settings
	}
	return []outgoing{begin, {Text: strings.TrimSpace(asked.Text) + " ", Flush: true}, {Text: ""}}
}

// incoming is a message of the server. Source: as doc.go; codes of errors as clients have seen
// them.
type incoming struct {
	Audio      string     `json:"audio"`
	IsFinal    bool       `json:"isFinal"`
	Alignment  *alignment `json:"alignment"`
	Normalized *alignment `json:"normalizedAlignment"`
	Error      string     `json:"error"`
}

// isOverload recognises the errors that mean later.
func isOverload(code string) bool {
	switch code {
	case "system_busy", "too_many_concurrent_requests", "rate_limit_exceeded":
		return true
	}
	return false
}

// read emits what comes. within is the context of watch, begun says that something came.
func (s *Synthesizer) read(
	within context.Context, conn *websocket.Conn, watch *speech.AudioWatch, emit func(speech.Piece) error,
) (begun bool, err error) {
	var words wordBuilder
	decoder := audio.Decoder{Format: audio.Format{Encoding: audio.PCM16, RateHz: s.config.Rate}}
	samples, total := 0, 0
	for {
		_, message, err := conn.Read(within)
		if err != nil {
			return begun, s.party.Failed(within, true, socket.WithoutWords(err))
		}
		begun = true
		var m incoming
		if err := json.Unmarshal(message, &m); err != nil {
			return true, s.party.Unreadable(errors.New("a message that is not JSON"), "speech")
		}
		if m.Error != "" {
			return true, s.party.Reported(m.Error, isOverload(m.Error))
		}
		data, err := base64.StdEncoding.DecodeString(m.Audio)
		if total += len(data); err != nil || total > maxSpeechBytes {
			return true, s.party.Unreadable(errors.New("no base64, or too much of it"), "the speech of one sentence")
		}
		piece := speech.Piece{Samples: decoder.AppendDecode(nil, data), Rate: s.config.Rate, Provider: s.Name()}
		piece.Words = words.add(cmp.Or(m.Alignment, m.Normalized), samples*1000/s.config.Rate)
		if m.IsFinal {
			piece.Words = append(piece.Words, words.end()...)
		}
		samples += len(piece.Samples)
		if len(piece.Samples)+len(piece.Words) > 0 {
			if err := watch.Emit(piece, emit); err != nil {
				return true, fmt.Errorf("take speech: %w", err)
			}
		}
		switch {
		case m.IsFinal && samples == 0:
			return true, s.party.Unreadable(errors.New("no audio"), "speech")
		case m.IsFinal:
			return true, nil
		}
	}
}
