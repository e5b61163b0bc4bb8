package recogniser

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"parlance.dev/parlance/voice/hearing/vad"
)

const (
	// speechFrames is how many of the most speech-like frames (of 32 ms) decide whether somebody
	// speaks: the shortest words have as many.
	speechFrames = 4
	// maxNoSpeech is the probability above which nobody speaks.
	maxNoSpeech = 0.5
)

type object = map[string]any

// ServeHTTP answers POST …/audio/transcriptions.
func (r *Recogniser) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case !strings.HasSuffix(req.URL.Path, "/audio/transcriptions"):
		refuse(w, &refusal{http.StatusNotFound, "", "", "Invalid URL (" + req.Method + " " + req.URL.Path + ")"})
		return
	case req.Method != http.MethodPost:
		refuse(w, &refusal{http.StatusMethodNotAllowed, "method_not_supported", "", "Not allowed to " + req.Method + " on " + req.URL.Path + "."})
		return
	}
	asked, refused := readRequest(w, req)
	if refused != nil {
		refuse(w, refused)
		return
	}
	noSpeech := noSpeech(asked.samples)
	var words []Word
	if noSpeech <= maxNoSpeech {
		var err error
		if words, err = r.Recognise(req.Context(), asked.samples); err != nil {
			refuse(w, &refusal{http.StatusInternalServerError, "", "", err.Error()})
			return
		}
	}
	answer(w, asked, words, noSpeech)
}

// noSpeech is the probability that nobody speaks.
func noSpeech(samples []int16) float64 {
	detector := vad.New()
	var speech []float64
	for frame := range slices.Chunk(samples, vad.FrameSamples) {
		if len(frame) == vad.FrameSamples {
			speech = append(speech, float64(detector.Detect(frame).Speech))
		}
	}
	slices.Sort(speech)
	best := 0.0
	for _, probability := range speech[max(0, len(speech)-speechFrames):] {
		best += probability / speechFrames
	}
	return 1 - best
}

// answer writes a transcript in the form that was asked for.
func answer(w http.ResponseWriter, asked request, words []Word, noSpeech float64) {
	written := make([]string, len(words))
	timed := []object{}
	for i, word := range words {
		written[i] = word.Text
		timed = append(timed, object{"word": strings.Trim(word.Text, ".,;:!?\"()"), "start": word.From, "end": word.To})
	}
	text := strings.Join(written, " ")
	if asked.format == "text" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text+"\n") // a caller that is gone gets nothing
		return
	}
	reply := object{"text": text}
	if asked.format == "verbose_json" {
		duration := float64(len(asked.samples)) / rateHz
		segments := []object{}
		if len(words) > 0 {
			segments = append(segments, object{
				"id": 0, "seek": 0, "start": words[0].From, "end": words[len(words)-1].To, "text": text, "tokens": []int{},
				"temperature": 0, "avg_logprob": 0, "compression_ratio": 1, "no_speech_prob": noSpeech,
			})
		}
		reply = object{"task": "transcribe", "language": "english", "duration": duration, "text": text, "segments": segments}
		if asked.words {
			reply["words"] = timed
		}
	}
	writeJSON(w, http.StatusOK, reply)
}

// refuse answers in the form of OpenAI's errors.
func refuse(w http.ResponseWriter, r *refusal) {
	kind := "invalid_request_error"
	if r.status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	writeJSON(w, r.status, object{"error": object{"message": r.message, "type": kind, "param": orNull(r.param), "code": orNull(r.code)}})
}

func writeJSON(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller that is gone gets nothing
}
