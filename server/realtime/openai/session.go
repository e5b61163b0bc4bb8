package openai

import (
	"cmp"
	"encoding/json"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice"
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
	TurnDetection  any             `json:"turn_detection"` // null: the client commits
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

// tool is a tool that the client runs itself.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// formatOf is a format as the protocol has it.
func formatOf(f audio.Format) format {
	kind, rateHz, known := f.OpenAI()
	if !known { // agents have formats of this protocol only
		return formatOf(audio.Default)
	}
	return format{Type: kind, RateHz: rateHz}
}

// audio is the format as Parlance has it.
func (f format) audio() audio.Format {
	known, _ := audio.ParseOpenAI(f.Type, f.RateHz) // readFormat has checked it
	return known
}

// audioSettings are the settings of this socket alone: the formats, how turns are detected, and
// JSON that is only shown to the client again, where nil is null.
type audioSettings struct {
	input  format
	output format
	speed  float64
	// textOnly is set when the client wants no speech.
	textOnly       bool
	detection      voice.Detection
	transcription  json.RawMessage
	noiseReduction json.RawMessage
	tracing        json.RawMessage
	toolChoice     json.RawMessage
}

func newAudioSettings(agent agents.Voice) audioSettings {
	input, output := voice.Formats(agent)
	return audioSettings{
		input: formatOf(input), output: formatOf(output), speed: voice.SpeedOf(agent), detection: voice.DetectionOf(agent),
		toolChoice: json.RawMessage(`"auto"`),
	}
}

// effectiveSession is the session as it is now. Answers are text in any case: there is no speech
// yet.
func (d *Dialect) effectiveSession() session {
	s, settings := d.session, d.audio
	shown := session{
		Type: "realtime", Object: "realtime.session", ID: string(s.ID), Model: modelName(s),
		OutputModalities: d.modalities(d.speaks && !settings.textOnly), Instructions: s.Config.Instructions, Tools: []tool{},
		ToolChoice: settings.toolChoice, MaxOutputTokens: d.maxOutputTokens(0), Tracing: settings.tracing,
		ExpiresAt: expiresAt(s),
		Audio: sessionAudio{
			Input: audioInput{
				Format: settings.input, Transcription: settings.transcription,
				NoiseReduction: settings.noiseReduction, TurnDetection: d.shownDetection(),
			},
			Output: audioOutput{Format: settings.output, Voice: voiceName(s), Speed: settings.speed},
		},
	}
	for _, t := range d.tools {
		shown.Tools = append(shown.Tools, tool{
			Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema(),
		})
	}
	return shown
}

// modalities are the output_modalities of something that is spoken, or written.
func (d *Dialect) modalities(spoken bool) []string {
	if spoken {
		return []string{"audio"}
	}
	return []string{"text"}
}

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
