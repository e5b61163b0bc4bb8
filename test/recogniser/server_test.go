package recogniser_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/recogniser"
	"parlance.dev/parlance/test/voices"
)

// send sends a form and returns the status and the answer.
func send(t *testing.T, method, url, fileName string, file []byte, fields ...string) (int, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if fileName != "" {
		part, err := form.CreateFormFile("file", fileName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return do(t, method, url, form.FormDataContentType(), &body)
}

func do(t *testing.T, method, url, contentType string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// TestForms: the forms of sound and of answers.
func TestForms(t *testing.T) {
	t.Parallel()
	const said = "May I bring a dog?"
	url := recogniser.Start(t, questions...).URL + "/audio/transcriptions"
	wav := func(rateHz, channels int, encoding audio.Encoding) []byte {
		mono := voices.Say(t, "flite", "slt", said, rateHz)
		samples := mono
		if channels == 2 {
			samples = audio.AppendInterleaved(nil, mono, mono)
		}
		return audio.AppendWAV(nil, audio.Format{Encoding: encoding, RateHz: rateHz}, channels, samples)
	}
	bare := audio.Format{Encoding: audio.PCM16, RateHz: 16_000}.AppendEncode(nil, voices.Say(t, "flite", "slt", said, 16_000))
	for name, row := range map[string]struct {
		fileName string
		file     []byte
		format   string
		want     string
	}{
		"JSON":        {"a.wav", wav(16_000, 1, audio.PCM16), "json", `{"text":"` + said + `"}` + "\n"},
		"Default":     {"a.wav", wav(48_000, 2, audio.PCM16), "", `{"text":"` + said + `"}` + "\n"},
		"Text":        {"a.wav", wav(24_000, 1, audio.PCM16), "text", said + "\n"},
		"Bare":        {"a.raw", bare, "text", said + "\n"},
		"Telephone":   {"a.wav", wav(8_000, 1, audio.MuLaw), "text", said + "\n"},
		"WAVAsRaw":    {"a.pcm", wav(22_050, 1, audio.PCM16), "text", said + "\n"},
		"UnknownName": {"blob", wav(16_000, 1, audio.PCM16), "text", said + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := []string{"model", "whisper-1", "language", "en", "prompt", "Hotel Brevik."}
			if row.format != "" {
				fields = append(fields, "response_format", row.format)
			}
			if status, got := send(t, http.MethodPost, url, row.fileName, row.file, fields...); status != http.StatusOK || got != row.want {
				t.Errorf("%d %s", status, got)
			}
		})
	}
}

// TestRefusals: wrong requests are refused in the form of OpenAI's errors.
func TestRefusals(t *testing.T) {
	t.Parallel()
	url := recogniser.Start(t, questions...).URL + "/audio/transcriptions"
	good := audio.AppendWAV(nil, audio.Format{Encoding: audio.PCM16, RateHz: 16_000}, 1, make([]int16, 16_000))
	model := []string{"model", "whisper-1"}
	for name, row := range map[string]struct {
		method, path, fileName string
		file                   []byte
		fields                 []string
		status                 int
		param, code, says      string
	}{
		"NoModel": {fileName: "a.wav", file: good, status: 400, param: "model", says: "model parameter"},
		"NoFile":  {fields: model, status: 400, param: "file", says: "missing"},
		"WrongFormat": {
			fileName: "a.wav", file: good, fields: append(model[:2:2], "response_format", "srt"), status: 400,
			param: "response_format", code: "unsupported_value", says: "srt",
		},
		"GPT": {
			fileName: "a.wav", file: good, fields: []string{"model", "gpt-4o-transcribe", "response_format", "verbose_json"}, status: 400,
			param: "response_format", code: "unsupported_value", says: "not compatible",
		},
		"WordsOfJSON": {
			fileName: "a.wav", file: good, fields: append(model[:2:2], "timestamp_granularities[]", "word"), status: 400,
			param: "timestamp_granularities", says: "verbose_json",
		},
		"German": {
			fileName: "a.wav", file: good, fields: append(model[:2:2], "language", "de"), status: 400,
			param: "language", code: "invalid_language_format", says: "English",
		},
		"MP3":    {fileName: "a.mp3", file: []byte("ID3\x04"), fields: model, status: 400, param: "file", says: "Unrecognized file format"},
		"Broken": {fileName: "a.wav", file: good[:20], fields: model, status: 400, param: "file", says: "corrupted"},
		"Short": {
			fileName: "a.raw", file: make([]byte, 100), fields: model, status: 400, param: "file", code: "audio_too_short", says: "0.1 s",
		},
		"TooLarge": {fileName: "a.raw", file: make([]byte, 26<<20), fields: model, status: 413, says: "Maximum content size"},
		"Get":      {method: http.MethodGet, fields: model, status: 405, code: "method_not_supported", says: "Not allowed to GET"},
		"Path":     {path: "/translations", fields: model, status: 404, says: "Invalid URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, method := url, http.MethodPost
			if row.path != "" {
				to = strings.TrimSuffix(url, "/transcriptions") + row.path
			}
			if row.method != "" {
				method = row.method
			}
			status, got := send(t, method, to, row.fileName, row.file, row.fields...)
			wantRefusal(t, status, got, row.status, row.param, row.code, row.says)
		})
	}
	status, got := do(t, http.MethodPost, url, "application/json", strings.NewReader(`{"model":"whisper-1"}`))
	wantRefusal(t, status, got, 400, "", "", "multipart/form-data")
}

func wantRefusal(t *testing.T, status int, body string, want int, param, code, says string) {
	t.Helper()
	var answer struct {
		Error struct {
			Message, Type string
			Param, Code   *string
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	e := answer.Error
	if status != want || e.Type != "invalid_request_error" || text(e.Param) != param || text(e.Code) != code ||
		!strings.Contains(e.Message, says) {
		t.Errorf("%d %s", status, body)
	}
}
