package recogniser

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/voices"
)

const (
	// maxBodyBytes and minSamples (0.1 s) are OpenAI's limits.
	maxBodyBytes = 25 << 20
	minSamples   = rateHz / 10
)

// refusal is an error in the form of OpenAI's.
type refusal struct {
	status  int
	code    string // may be empty
	param   string // may be empty
	message string
}

func invalid(param, code, format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, code, param, fmt.Sprintf(format, args...)}
}

// request is what a client asks for.
type request struct {
	samples []int16 // at rateHz
	format  string  // json, verbose_json or text
	words   bool    // with their times
}

// readRequest reads a form.
func readRequest(w http.ResponseWriter, r *http.Request) (request, *refusal) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	if err := r.ParseMultipartForm(maxBodyBytes); err != nil {
		if strings.Contains(err.Error(), "too large") {
			return request{}, &refusal{
				http.StatusRequestEntityTooLarge, "", "", fmt.Sprintf("Maximum content size limit (%d) exceeded.", maxBodyBytes),
			}
		}
		return request{}, invalid("", "", "The body is not multipart/form-data: %s.", err)
	}
	asked := request{format: "json", words: slices.Contains(r.MultipartForm.Value["timestamp_granularities[]"], "word")}
	if format := r.FormValue("response_format"); format != "" {
		asked.format = format
	}
	model, language := r.FormValue("model"), r.FormValue("language")
	switch {
	case model == "":
		return request{}, invalid("model", "", "you must provide a model parameter")
	case !slices.Contains([]string{"json", "verbose_json", "text"}, asked.format):
		return request{}, invalid("response_format", "unsupported_value", "response_format %q is not json, verbose_json or text.", asked.format)
	case asked.format == "verbose_json" && strings.HasPrefix(model, "gpt-"):
		return request{}, invalid("response_format", "unsupported_value",
			"response_format 'verbose_json' is not compatible with model %q. Use 'json' or 'text' instead.", model)
	case asked.words && asked.format != "verbose_json":
		return request{}, invalid("timestamp_granularities", "", "timestamp_granularities need response_format verbose_json.")
	case language != "" && language != "en":
		return request{}, invalid("language", "invalid_language_format", "Language %q: this recogniser has English (en) only.", language)
	}
	var refused *refusal
	asked.samples, refused = readSound(r)
	return asked, refused
}

// readSound reads the form's file.
func readSound(r *http.Request) ([]int16, *refusal) {
	file, header, err := r.FormFile("file")
	if err != nil {
		return nil, invalid("file", "", "The file is missing: %s.", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, invalid("file", "", "The file cannot be read: %s.", err)
	}
	var samples []int16
	rate := rateHz
	switch extension := strings.ToLower(filepath.Ext(header.Filename)); {
	case bytes.HasPrefix(data, []byte("RIFF")):
		samples, rate, err = audio.ReadWAV(bytes.NewReader(data), maxBodyBytes)
	case extension == ".raw" || extension == ".pcm":
		decoder := audio.Decoder{Format: audio.Format{Encoding: audio.PCM16, RateHz: rateHz}}
		samples = decoder.AppendDecode(nil, data)
	default:
		return nil, invalid("file", "", "Unrecognized file format. Supported formats: ['wav', 'raw', 'pcm']")
	}
	if err == nil {
		samples, err = voices.AtRate(samples, rate, rateHz)
	}
	if err != nil {
		return nil, invalid("file", "", "Audio file might be corrupted or unsupported: %s.", err)
	}
	if len(samples) < minSamples {
		return nil, invalid("file", "audio_too_short", "Audio file is too short. Minimum audio length is 0.1 seconds.")
	}
	return samples, nil
}
