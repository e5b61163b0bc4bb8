package voice

import (
	"cmp"
	"encoding/json"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/voice/hearing"
)

// The types of turn detection. Source: OpenAI's Realtime protocol. With neither, the client commits
// its utterances itself (push-to-talk).
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
)

// Detection says how turns are detected. It has the members of turn_detection in OpenAI's Realtime
// protocol.
type Detection struct {
	// Type is ServerVAD, SemanticVAD or empty.
	Type string
	// Threshold is the probability from which sound is speech, 0 to 1.
	Threshold           float64
	PrefixMS, SilenceMS int
	// IdleMS is the silence of both sides after which SilenceNoted is sent; 0: never.
	IdleMS int
	// Eagerness is low, medium, high, or auto; of SemanticVAD.
	Eagerness                 string
	CreateResponse, Interrupt bool
	// StartEarly says whether an utterance is transcribed, and the model asked, when the user has
	// probably finished. Nothing of that is heard before it is certain. nil: it is where a transcriber
	// streams; one of whole utterances would hear many of them twice.
	StartEarly *bool
}

// DefaultDetection is the detection of an agent that says nothing about it. Source: decisions,
// Models and voice.
func DefaultDetection() Detection {
	d := hearing.Defaults()
	return Detection{
		Type: ServerVAD, Threshold: d.Threshold, PrefixMS: d.PrefixMS, SilenceMS: d.SilenceMS, Eagerness: "auto",
		CreateResponse: true, Interrupt: true,
	}
}

// DetectionOf is the detection that an agent's voice settings ask for.
func DetectionOf(v agents.Voice) Detection {
	d := DefaultDetection()
	var vad struct {
		Threshold *float64 `json:"threshold"`
		PrefixMS  *int     `json:"prefix_padding_ms"`
		SilenceMS *int     `json:"silence_duration_ms"`
	}
	var detection struct {
		Type           string `json:"type"`
		Interrupt      *bool  `json:"interrupt_response"`
		CreateResponse *bool  `json:"create_response"`
		StartEarly     *bool  `json:"start_early"`
	}
	// Both were checked when they were saved; what is not there keeps its default.
	_ = json.Unmarshal(v.VAD, &vad)
	_ = json.Unmarshal(v.TurnDetection, &detection)
	set(&d.Threshold, vad.Threshold)
	set(&d.PrefixMS, vad.PrefixMS)
	set(&d.SilenceMS, vad.SilenceMS)
	set(&d.Interrupt, detection.Interrupt)
	set(&d.CreateResponse, detection.CreateResponse)
	d.StartEarly = detection.StartEarly
	d.Type = cmp.Or(detection.Type, d.Type)
	return d
}

// set sets a value that was given.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// SpeedOf is the speed of the agent's voice; 1 when it says none.
func SpeedOf(v agents.Voice) float64 {
	var tts struct {
		Speed *float64 `json:"speed"`
	}
	speed := 1.0
	_ = json.Unmarshal(v.TTS, &tts) // it was checked when it was saved
	set(&speed, tts.Speed)
	return speed
}

// Formats are the formats of a call's sound that an agent's voice settings ask for.
func Formats(v agents.Voice) (input, output audio.Format) {
	formatOf := func(name string) audio.Format {
		if format, known := audio.Parse(name); known {
			return format
		}
		return audio.Default
	}
	return formatOf(v.InputAudioFormat), formatOf(v.OutputAudioFormat)
}

// eagerness are the names of hearing's.
var eagerness = map[string]hearing.Eagerness{
	"low": hearing.EagernessLow, "medium": hearing.EagernessMedium, "high": hearing.EagernessHigh,
}

// hearing is the detection as package hearing has it.
func (d Detection) hearing(agent agents.Voice, stack Stack, language string) hearing.Settings {
	s := hearing.Defaults()
	s.Threshold, s.PrefixMS, s.SilenceMS, s.IdleMS = d.Threshold, d.PrefixMS, d.SilenceMS, d.IdleMS
	s.Interrupt, s.CreateResponse, s.Manual = d.Interrupt, d.CreateResponse, d.Type == "" || stack.Transcriber == nil
	if idle := agent.Waiting.ReengageAfterMS; d.IdleMS == 0 {
		s.IdleMS = idle
	}
	s.Streaming, s.Punctuated = stack.Streaming, stack.Punctuated
	s.Language = cmp.Or(language, s.Language)
	if d.Type == SemanticVAD {
		s.Eagerness = eagerness[d.Eagerness]
	}
	return s
}
