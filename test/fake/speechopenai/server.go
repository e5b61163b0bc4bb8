package speechopenai

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
)

// Form is how a server writes transcripts.
type Form int

// The forms: OpenAI's whisper-1; whisper.cpp, with tokens in the segments; a server that refuses
// verbose_json.
const (
	FormOpenAI Form = iota
	FormWhisperCPP
	FormPlain
)

// Server is a running fake.
type Server struct {
	// BaseURL ends in /v1.
	BaseURL  string
	Hearing  *speechtest.HearingScript
	Speaking *speechtest.SpeakingScript
	// Form is set before the first request.
	Form Form

	key string
}

// maxBodyBytes bounds a request. OpenAI takes 25 MB.
const maxBodyBytes = 25 << 20

// New starts a server that answers 401 to every other key; it ends with the test.
func New(t testing.TB, key string) *Server {
	t.Helper()
	s := &Server{
		key: key, Hearing: speechtest.NewScript[speechtest.HeardRequest, speechtest.Heard](),
		Speaking: speechtest.NewScript[speechtest.SpokenRequest, speechtest.Spoken](),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	mux.HandleFunc("POST /v1/audio/speech", s.speak)
	mux.HandleFunc("GET /v1/realtime", s.realtime)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL + "/v1"
	return s
}

type object = map[string]any

// refuse answers in the form of OpenAI's errors.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"error": object{
		"message": message, "type": "invalid_request_error", "param": nil, "code": code,
	}})
}

// refused answers as the script says, and reports whether it did.
func refused(w http.ResponseWriter, r speechtest.Refusal) bool {
	if r.Status == 0 {
		return false
	}
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	if r.Body != "" {
		w.WriteHeader(r.Status)
		_, _ = io.WriteString(w, r.Body)
		return true
	}
	refuse(w, r.Status, "scripted", "The script says so.")
	return true
}

func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	key := r.Header.Get("Authorization")
	if key == "Bearer "+s.key {
		return true
	}
	refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key)
	return false
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	file, header, err := r.FormFile("file")
	if err != nil {
		refuse(w, http.StatusBadRequest, "missing_file", err.Error())
		return
	}
	data, err := io.ReadAll(file)
	if err != nil || !strings.HasSuffix(header.Filename, ".wav") {
		refuse(w, http.StatusBadRequest, "unsupported_format", "Unrecognized file format "+header.Filename)
		return
	}
	samples, rate := readWAV(data)
	if len(samples) == 0 {
		refuse(w, http.StatusBadRequest, "invalid_file", "The audio file could not be decoded or its format is not supported.")
		return
	}
	values := r.MultipartForm.Value
	s.Hearing.Record(speechtest.HeardRequest{
		Header: r.Header, Samples: samples, Rate: rate, Model: r.FormValue("model"), Language: r.FormValue("language"),
		Hints: values["prompt"], Values: values,
	})
	verbose := r.FormValue("response_format") == "verbose_json"
	if verbose && (s.Form == FormPlain || strings.HasPrefix(r.FormValue("model"), "gpt-")) {
		refuse(w, http.StatusBadRequest, "unsupported_value", "response_format 'verbose_json' is not compatible with the model.")
		return
	}
	reply := s.Hearing.Next()
	if !speechtest.Pass(r.Context(), reply.Gate) || refused(w, reply.Refusal) {
		return
	}
	s.transcript(w, r, reply, verbose)
}

// readWAV reads a file with the shortest header, one channel and 16 bits; of others it reads
// nothing. Source: the lengths and places are those of the format's description by IBM and
// Microsoft, 1991.
func readWAV(file []byte) (samples []int16, rate int) {
	const headerBytes = 44
	if len(file) < headerBytes || string(file[:4]) != "RIFF" || string(file[8:16]) != "WAVEfmt " || string(file[36:40]) != "data" {
		return nil, 0
	}
	number := binary.LittleEndian
	data := file[headerBytes:]
	if number.Uint32(file[4:]) != uint32(len(file)-8) || number.Uint32(file[40:]) != uint32(len(data)) ||
		number.Uint16(file[20:]) != 1 || number.Uint16(file[22:]) != 1 || number.Uint16(file[34:]) != 16 {
		return nil, 0
	}
	for ; len(data) >= 2; data = data[2:] {
		samples = append(samples, int16(number.Uint16(data)))
	}
	return samples, int(number.Uint32(file[24:]))
}

// transcript writes a transcript, or what comes in its place.
func (s *Server) transcript(w http.ResponseWriter, r *http.Request, reply speechtest.Heard, verbose bool) {
	w.Header().Set("Content-Type", "application/json")
	switch reply.End {
	case speechtest.EndSilent:
		<-r.Context().Done()
		return
	case speechtest.EndGarbage:
		_, _ = io.WriteString(w, "<html>")
		return
	case speechtest.EndError:
		_, _ = io.WriteString(w, `{"error":{"message":"Something went wrong for `+s.key+`."}}`)
		return
	case speechtest.EndCut, speechtest.EndClosed:
		_, _ = io.WriteString(w, `{"text": "half`)
		_ = http.NewResponseController(w).Flush() // nothing can be done about a caller that is gone
		panic(http.ErrAbortHandler)
	case speechtest.EndEndless:
		_, _ = io.WriteString(w, `{"text": "`+strings.Repeat("and ", 2<<20)+`"}`)
		return
	}
	answer := object{"text": reply.Text}
	if verbose {
		answer = s.verbose(reply)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// verbose is a transcript as verbose_json.
func (s *Server) verbose(reply speechtest.Heard) object {
	segment := object{"id": 0, "start": 0, "end": 1.0, "text": reply.Text, "no_speech_prob": reply.NoSpeech, "avg_logprob": -0.3}
	answer := object{"task": "transcribe", "language": reply.Language, "duration": 1.0, "text": reply.Text, "segments": []object{segment}}
	if s.Form == FormWhisperCPP {
		segment["words"] = tokens(reply.Words)
		answer["text"] = " " + reply.Text + "\n"
		return answer
	}
	words := []object{}
	for _, w := range reply.Words {
		words = append(words, object{"word": w.Text, "start": seconds(w.StartMS), "end": seconds(w.EndMS)})
	}
	answer["words"] = words
	return answer
}

// tokens are the words in pieces, as whisper.cpp writes them: the first letter, and the rest.
func tokens(words []speech.Word) []object {
	var all []object
	for _, w := range words {
		middle := (seconds(w.StartMS) + seconds(w.EndMS)) / 2
		all = append(all, object{"word": " " + w.Text[:1], "start": seconds(w.StartMS), "end": middle, "probability": 0.9})
		all = append(all, object{"word": w.Text[1:], "start": middle, "end": seconds(w.EndMS), "probability": 0.9})
	}
	return all
}

func seconds(ms int) float64 { return float64(ms) / 1000 }

func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r) {
		return
	}
	var in struct {
		Model          string  `json:"model"`
		Input          string  `json:"input"`
		Voice          string  `json:"voice"`
		ResponseFormat string  `json:"response_format"`
		Speed          float64 `json:"speed"`
		Instructions   string  `json:"instructions"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBodyBytes)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_json", err.Error())
		return
	}
	if in.Model == "" || in.Input == "" || in.Voice == "" || in.ResponseFormat != "pcm" || in.Speed != 0 && (in.Speed < 0.25 || in.Speed > 4) {
		refuse(w, http.StatusBadRequest, "invalid_request", "This fake needs model, input, voice, response_format pcm and a speed in range.")
		return
	}
	reply := s.Speaking.Next()
	s.Speaking.Record(speechtest.SpokenRequest{
		Header: r.Header, Model: in.Model, Text: in.Input, Voice: in.Voice, Speed: in.Speed, Instructions: in.Instructions,
	})
	if refused(w, reply.Refusal) {
		return
	}
	s.audio(w, r, reply)
}

// audio streams samples, or what comes in their place.
func (s *Server) audio(w http.ResponseWriter, r *http.Request, reply speechtest.Spoken) {
	switch {
	case reply.End == speechtest.EndGarbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>")
		return
	case reply.End == speechtest.EndError:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"error":{"message":"Something went wrong for `+s.key+`."}}`)
		return
	case reply.ContentType != "":
		w.Header().Set("Content-Type", reply.ContentType)
	default:
		w.Header().Set("Content-Type", "audio/pcm")
	}
	flusher := http.NewResponseController(w)
	_ = flusher.Flush() // as for all of them: nothing can be done about a caller that is gone
	for _, piece := range reply.Pieces {
		if !speechtest.Pass(r.Context(), reply.Gate) {
			return
		}
		_, _ = w.Write(piece)
		_ = flusher.Flush()
	}
	switch reply.End {
	case speechtest.EndSilent:
		<-r.Context().Done()
	case speechtest.EndCut, speechtest.EndClosed:
		panic(http.ErrAbortHandler)
	case speechtest.EndEndless:
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	}
}
