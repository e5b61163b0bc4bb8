package openai

import (
	"cmp"
	"encoding/json"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
)

// session is all settings in force, as session.created and session.updated show them. The agents
// SDK derives from it how long audio is, and whether to cancel an answer when the user speaks.
type session struct {
	Type             string          `json:"type"`
	Object           string          `json:"object"`
	ID               string          `json:"id"`
	Model            string          `json:"model"`
	OutputModalities []string        `json:"output_modalities"`
	Instructions     string          `json:"instructions"`
	Tools            []tool          `json:"tools"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
	MaxOutputTokens  any             `json:"max_output_tokens"` // a number or "inf"
	Tracing          json.RawMessage `json:"tracing"`
	ExpiresAt        int64           `json:"expires_at"` // Unix seconds
	Audio            sessionAudio    `json:"audio"`
}

type sessionAudio struct {
	Input  audioInput  `json:"input"`
	Output audioOutput `json:"output"`
}

type audioInput struct {
	Format         format          `json:"format"`
	Transcription  json.RawMessage `json:"transcription"`
	NoiseReduction json.RawMessage `json:"noise_reduction"`
	TurnDetection  json.RawMessage `json:"turn_detection"`
}

type audioOutput struct {
	Format format  `json:"format"`
	Voice  string  `json:"voice"`
	Speed  float64 `json:"speed"`
}

// format is an audio format. RateHz is 0 where the type fixes it.
type format struct {
	Type   string `json:"type"`
	RateHz int    `json:"rate,omitempty"`
}

// bytesPerMS: PCM has two bytes a sample, G.711 one at 8 kHz.
func (f format) bytesPerMS() int {
	if f.RateHz > 0 {
		return 2 * f.RateHz / 1000
	}
	return 8
}

// tool is a tool that the client runs itself.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// formats are the protocol's audio formats by the agent's names for them.
var formats = map[string]format{
	"":            {Type: "audio/pcm", RateHz: 24000},
	"pcm16_24000": {Type: "audio/pcm", RateHz: 24000},
	"pcm16_16000": {Type: "audio/pcm", RateHz: 16000},
	"g711_ulaw":   {Type: "audio/pcmu"},
	"g711_alaw":   {Type: "audio/pcma"},
}

// audioSettings are the settings of this socket alone: the formats, and JSON that is only shown to
// the client again, where nil is null.
type audioSettings struct {
	input          format
	output         format
	speed          float64
	turnDetection  json.RawMessage
	transcription  json.RawMessage
	noiseReduction json.RawMessage
	tracing        json.RawMessage
	toolChoice     json.RawMessage
}

func newAudioSettings(voice agents.Voice) audioSettings {
	return audioSettings{
		input: formats[voice.InputAudioFormat], output: formats[voice.OutputAudioFormat], speed: 1,
		toolChoice: json.RawMessage(`"auto"`),
	}
}

// effectiveSession is the session as it is now. Answers are text in any case: there is no speech
// yet.
func (d *Dialect) effectiveSession() session {
	s, audio := d.session, d.audio
	shown := session{
		Type: "realtime", Object: "realtime.session", ID: string(s.ID), Model: modelName(s),
		OutputModalities: textOnly(), Instructions: s.Config.Instructions, Tools: []tool{},
		ToolChoice: audio.toolChoice, MaxOutputTokens: d.maxOutputTokens(0), Tracing: audio.tracing,
		ExpiresAt: expiresAt(s),
		Audio: sessionAudio{
			Input: audioInput{
				Format: audio.input, Transcription: audio.transcription,
				NoiseReduction: audio.noiseReduction, TurnDetection: audio.turnDetection,
			},
			Output: audioOutput{Format: audio.output, Voice: voiceName(s), Speed: audio.speed},
		},
	}
	for _, t := range d.tools {
		shown.Tools = append(shown.Tools, tool{
			Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema(),
		})
	}
	return shown
}

func textOnly() []string { return []string{"text"} }

// modelName is the model that answers; "default" is the installation's.
func modelName(s sessions.Session) string {
	if s.Config.Model.Name != "" {
		return s.Config.Model.Name
	}
	return "default"
}

// maxOutputTokens is the bound of an answer: the smaller of the agent's and the client's.
// requested, unless 0, is the client's bound of this one answer.
func (d *Dialect) maxOutputTokens(requested int) any {
	bound := d.session.Config.Model.MaxOutputTokens
	requested = cmp.Or(requested, d.maxTokens)
	if requested > 0 && (bound <= 0 || requested < bound) {
		bound = requested
	}
	if bound > 0 {
		return bound
	}
	return "inf"
}

// expiresAt is when the conversation must be over; before its start, when it must have started.
func expiresAt(s sessions.Session) int64 {
	if s.StartedAt.IsZero() {
		return s.TokenExpiresAt.Unix()
	}
	return s.StartedAt.Add(time.Duration(s.MaxDurationSeconds) * time.Second).Unix()
}

// voiceName is the voice in the agent's tts settings, or "default".
func voiceName(s sessions.Session) string {
	var tts struct {
		Voice string `json:"voice"`
	}
	if len(s.Config.Voice.TTS) == 0 || json.Unmarshal(s.Config.Voice.TTS, &tts) != nil || tts.Voice == "" {
		return "default"
	}
	return tts.Voice
}
