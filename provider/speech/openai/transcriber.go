package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/provider/internal/apiclient"
	"parlance.dev/parlance/provider/speech"
)

const (
	// maxTranscriptBytes bounds an answer.
	maxTranscriptBytes = 4 << 20
	// maxPromptBytes keeps the prompt below Whisper's 224 tokens.
	maxPromptBytes = 600
)

// fileFormat is that of the samples in the file.
var fileFormat = audio.Format{Encoding: audio.PCM16, RateHz: speech.HearingRate}

// Transcriber implements speech.Transcriber. It is safe for concurrent use.
type Transcriber struct {
	server
	// plain is set when the server has no verbose_json.
	plain atomic.Bool
}

// NewTranscriber checks the configuration. It sends nothing.
func NewTranscriber(cfg Config) (*Transcriber, error) {
	made, err := newServer(cfg, DefaultTranscriber)
	if err != nil {
		return nil, err
	}
	t := &Transcriber{server: made}
	t.plain.Store(isGPT(made.config.Model))
	return t, nil
}

// Name is the configured name.
func (t *Transcriber) Name() string { return t.party.Name }

// Transcribe implements speech.Transcriber.
func (t *Transcriber) Transcribe(ctx context.Context, u speech.Utterance) (speech.Transcript, error) {
	heard := speech.Transcript{Provider: t.Name()}
	if len(u.Samples) == 0 {
		return heard, nil
	}
	within, cancel := t.config.Timeouts.AwaitTranscript(ctx)
	defer cancel()
	plain := t.plain.Load()
	text, err := t.ask(within, u, plain)
	if !plain && isRefusedFormat(err) {
		t.plain.Store(true)
		text, err = t.ask(within, u, true)
	}
	if err != nil {
		return speech.Transcript{}, t.party.Failed(within, false, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Text == nil {
		return speech.Transcript{}, t.party.Unreadable(errors.New("not a JSON object with a text"), "a transcript")
	}
	heard.Text, heard.Language = strings.TrimSpace(*a.Text), languageTag(a.Language)
	heard.NoSpeech, heard.Words = a.noSpeech(), a.words()
	return heard, nil
}

// isRefusedFormat reports whether a server refused a request as it is, and may take a plainer one.
func isRefusedFormat(err error) bool {
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	return ok && (refusal.Status == http.StatusBadRequest || refusal.Status == http.StatusUnprocessableEntity)
}

// ask is one request.
func (t *Transcriber) ask(ctx context.Context, u speech.Utterance, plain bool) ([]byte, error) {
	body, contentType, err := t.form(u, plain)
	if err != nil {
		return nil, fault.Wrap(err, fault.InternalError, "Internal error.")
	}
	text, err := t.caller("audio/transcriptions", "application/json", contentType, u.Standby).PostWhole(ctx, body, maxTranscriptBytes)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// form is the request as multipart/form-data.
func (t *Transcriber) form(u speech.Utterance, plain bool) (body []byte, contentType string, err error) {
	var buffer bytes.Buffer
	form := multipart.NewWriter(&buffer)
	fields := [][2]string{{"model", t.config.Model}, {"response_format", "json"}}
	if !plain {
		fields = [][2]string{
			{"model", t.config.Model},
			{"response_format", "verbose_json"},
			{"timestamp_granularities[]", "word"},
			{"timestamp_granularities[]", "segment"},
		}
	}
	if base := langtag.Base(u.Language); base != "" {
		fields = append(fields, [2]string{"language", base})
	}
	if prompt := promptOf(u.Hints); prompt != "" {
		fields = append(fields, [2]string{"prompt", prompt})
	}
	for _, field := range fields {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return nil, "", fmt.Errorf("write a form: %w", err)
		}
	}
	file, err := form.CreateFormFile("file", "utterance.wav")
	if err == nil {
		_, err = file.Write(audio.AppendWAV(nil, fileFormat, 1, u.Samples))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return nil, "", fmt.Errorf("write a form: %w", err)
	}
	return buffer.Bytes(), form.FormDataContentType(), nil
}

// promptOf is the hints as Whisper takes them: as text that could have been said before.
func promptOf(hints []string) string {
	prompt := ""
	for _, hint := range hints {
		if len(prompt)+len(hint)+2 > maxPromptBytes {
			break
		}
		if prompt != "" {
			prompt += ", "
		}
		prompt += hint
	}
	if prompt != "" {
		prompt += "."
	}
	return prompt
}

// answer is a transcript in any of the forms of the servers. Source: OpenAI's API reference, which
// has words beside the segments; whisper.cpp's examples/server, which has them in the segments.
type answer struct {
	Text     *string `json:"text"`
	Language string  `json:"language"`
	Words    []word  `json:"words"`
	Segments []struct {
		NoSpeech *float64 `json:"no_speech_prob"`
		Words    []word   `json:"words"`
	} `json:"segments"`
}

type word struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"` // seconds
	End   float64 `json:"end"`
}

// noSpeech is the least of the segments' probabilities: somebody spoke if somebody spoke in one.
func (a answer) noSpeech() float64 {
	least := math.Inf(1)
	for _, segment := range a.Segments {
		if segment.NoSpeech != nil {
			least = min(least, *segment.NoSpeech)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return max(0, min(1, least))
}

// words are the words with their times. whisper.cpp's are tokens: one that does not begin with a
// space belongs to the word before it.
func (a answer) words() []speech.Word {
	var words []speech.Word
	for _, w := range a.Words {
		words = append(words, speech.Word{Text: strings.TrimSpace(w.Word), StartMS: milliseconds(w.Start), EndMS: milliseconds(w.End)})
	}
	if words != nil {
		return words
	}
	for _, segment := range a.Segments {
		for i, token := range segment.Words {
			if i > 0 && len(words) > 0 && !strings.HasPrefix(token.Word, " ") {
				last := &words[len(words)-1]
				last.Text, last.EndMS = last.Text+token.Word, milliseconds(token.End)
				continue
			}
			words = append(words, speech.Word{
				Text: strings.TrimSpace(token.Word), StartMS: milliseconds(token.Start), EndMS: milliseconds(token.End),
			})
		}
	}
	return words
}

func milliseconds(seconds float64) int {
	if seconds < 0 || seconds > speech.MaxUtterance.Seconds() {
		return 0
	}
	return int(math.Round(seconds * 1000))
}
