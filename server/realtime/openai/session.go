package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// session is the full configuration in force, as session.created and session.updated show it:
// the agents SDK derives from it how long audio is and whether to cancel on speech.
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

// format is an audio format; RateHz is left out where the type fixes it.
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

// formats are the agent's words for audio formats in the protocol's.
var formats = map[string]format{
	"":            {Type: "audio/pcm", RateHz: 24000},
	"pcm16_24000": {Type: "audio/pcm", RateHz: 24000},
	"pcm16_16000": {Type: "audio/pcm", RateHz: 16000},
	"g711_ulaw":   {Type: "audio/pcmu"},
	"g711_alaw":   {Type: "audio/pcma"},
}

// audioSettings are what belongs to this socket alone: the formats, and what a client is shown again as it
// sent it. What is nil in JSON is null.
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
	return audioSettings{input: formats[voice.InputAudioFormat], output: formats[voice.OutputAudioFormat], speed: 1, toolChoice: json.RawMessage(`"auto"`)}
}

// effective is the session as it is now. Answers are text whatever was asked for: nothing speaks yet.
func (d *Dialect) effective() session {
	s, audio := d.session, d.audio
	shown := session{
		Type: "realtime", Object: "realtime.session", ID: string(s.ID), Model: modelName(s), OutputModalities: textOnly(),
		Instructions: s.Config.Instructions, Tools: []tool{}, ToolChoice: audio.toolChoice, MaxOutputTokens: d.maxOutputTokens(0),
		Tracing: audio.tracing, ExpiresAt: expiresAt(s),
		Audio: sessionAudio{
			Input:  audioInput{Format: audio.input, Transcription: audio.transcription, NoiseReduction: audio.noiseReduction, TurnDetection: audio.turnDetection},
			Output: audioOutput{Format: audio.output, Voice: voiceName(s), Speed: audio.speed},
		},
	}
	for _, t := range d.tools {
		shown.Tools = append(shown.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema()})
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

// maxOutputTokens is how long an answer may be: the least of the agent's bound and the client's, of which
// asked, unless 0, is the one of this answer.
func (d *Dialect) maxOutputTokens(asked int) any {
	bound := d.session.Config.Model.MaxOutputTokens
	if asked = cmp.Or(asked, d.maxTokens); asked > 0 && (bound <= 0 || asked < bound) {
		bound = asked
	}
	if bound > 0 {
		return bound
	}
	return "inf"
}

// expiresAt is when the conversation must be over; before its start, when it must have begun.
func expiresAt(s sessions.Session) int64 {
	if s.StartedAt.IsZero() {
		return s.TokenExpiresAt.Unix()
	}
	return s.StartedAt.Add(time.Duration(s.MaxDurationSeconds) * time.Second).Unix()
}

// voiceName is the name in the agent's tts settings, if it has one there.
func voiceName(s sessions.Session) string {
	var tts struct {
		Voice string `json:"voice"`
	}
	if len(s.Config.Voice.TTS) == 0 || json.Unmarshal(s.Config.Voice.TTS, &tts) != nil || tts.Voice == "" {
		return "default"
	}
	return tts.Voice
}

// sessionUpdate is what of session.update is looked at; the rest is let pass. nil members were
// absent, "null" ones clear.
type sessionUpdate struct {
	Type             string          `json:"type"`
	Instructions     json.RawMessage `json:"instructions"`
	Model            json.RawMessage `json:"model"`
	Tools            json.RawMessage `json:"tools"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
	MaxOutputTokens  json.RawMessage `json:"max_output_tokens"`
	OutputModalities json.RawMessage `json:"output_modalities"`
	Tracing          json.RawMessage `json:"tracing"`
	Audio            struct {
		Input struct {
			Format         json.RawMessage `json:"format"`
			TurnDetection  json.RawMessage `json:"turn_detection"`
			Transcription  json.RawMessage `json:"transcription"`
			NoiseReduction json.RawMessage `json:"noise_reduction"`
		} `json:"input"`
		Output struct {
			Format json.RawMessage `json:"format"`
			Voice  json.RawMessage `json:"voice"`
			Speed  json.RawMessage `json:"speed"`
		} `json:"output"`
	} `json:"audio"`
}

// configure reads a session.update: the socket's own settings with it applied, and what the core
// must be asked for. The core leaves out what the agent's client_overrides does not name.
func (d *Dialect) configure(raw json.RawMessage) (audioSettings, live.Configure, *refusal) {
	audio := d.audio
	var update sessionUpdate
	if refused := decode(raw, "session", &update); refused != nil {
		return audio, live.Configure{}, refused
	}
	if update.Type != "" && update.Type != "realtime" {
		return audio, live.Configure{}, invalid("session.type", "Only sessions of the type \"realtime\" exist here.")
	}
	if refused := audio.apply(update, newAudioSettings(d.began)); refused != nil {
		return audio, live.Configure{}, refused
	}
	command := live.Configure{Overrides: map[string]json.RawMessage{}}
	if present(update.Instructions) {
		command.Overrides["instructions"] = update.Instructions
	} else if update.Instructions != nil {
		command.Overrides["instructions"] = json.RawMessage(`""`)
	}
	if present(update.Model) {
		command.Overrides["model"] = update.Model
	} else if update.Model != nil {
		command.Restore = append(command.Restore, "model")
	}
	if voice := update.Audio.Output.Voice; present(voice) {
		command.Overrides["voice"] = d.voiceOverride(voice)
	} else if voice != nil {
		command.Restore = append(command.Restore, "voice")
	}
	refused := readOptions(update, &command)
	return audio, command, refused
}

// readOptions reads what a session.update asks of answers.
func readOptions(update sessionUpdate, command *live.Configure) (refused *refusal) {
	if command.MaxOutputTokens, refused = readMaxTokens("session.max_output_tokens", update.MaxOutputTokens); refused != nil {
		return refused
	}
	if command.ToolChoice, refused = readToolChoice("session.tool_choice", update.ToolChoice); refused != nil {
		return refused
	}
	if _, refused = readModalities("session.output_modalities", update.OutputModalities); refused != nil {
		return refused
	}
	command.ClientTools, refused = clientTools("session.tools", update.Tools)
	return refused
}

// readFormat is the format in raw, the old one when there is none, or for null the one of the beginning.
func readFormat(param string, raw json.RawMessage, old, began format) (format, *refusal) {
	switch {
	case raw == nil:
		return old, nil
	case !present(raw):
		return began, nil
	}
	var wanted format
	if json.Unmarshal(raw, &wanted) != nil {
		return old, invalid(param, `A format is an object such as {"type": "audio/pcm", "rate": 24000}.`)
	}
	switch wanted.Type {
	case "audio/pcm":
		if wanted.RateHz == 0 {
			wanted.RateHz = formats[""].RateHz
		}
		if wanted.RateHz != 24000 && wanted.RateHz != 16000 {
			return old, invalid(param+".rate", "The rate of audio/pcm is 24000 or 16000.")
		}
		return wanted, nil
	case "audio/pcmu", "audio/pcma":
		return format{Type: wanted.Type}, nil
	}
	return old, invalid(param+".type", "The formats are audio/pcm, audio/pcmu and audio/pcma.")
}

// voiceOverride is the agent's tts settings with another voice, as a value of the override "voice".
func (d *Dialect) voiceOverride(voice json.RawMessage) json.RawMessage {
	tts := map[string]json.RawMessage{}
	if own := d.session.Config.Voice.TTS; len(own) > 0 && json.Unmarshal(own, &tts) != nil {
		tts = map[string]json.RawMessage{}
	}
	tts["voice"] = voice
	value, _ := json.Marshal(map[string]any{"tts": tts}) // members that were decoded encode again
	return value
}

// maxClientTools and the length of a name are OpenAI's own bounds.
const (
	maxClientTools   = 128
	maxToolNameChars = 64
)

// clientTools reads a list of tools: nil keeps what there is. Those of other types than function are left out: see
// otherTools.
func clientTools(param string, raw json.RawMessage) ([]model.Tool, *refusal) {
	if raw == nil {
		return nil, nil
	}
	var listed []tool
	if refused := decode(raw, param, &listed); refused != nil {
		return nil, refused
	}
	if len(listed) > maxClientTools {
		return nil, invalid(param, "At most "+strconv.Itoa(maxClientTools)+" tools can be set.")
	}
	wanted := []model.Tool{}
	for i, t := range listed {
		at := param + "[" + strconv.Itoa(i) + "]"
		if t.Type != "function" {
			continue
		}
		if !validToolName(t.Name) {
			return nil, invalid(at+".name", "A tool's name has 1 to 64 letters, digits, _ and -.")
		}
		if slices.ContainsFunc(wanted, func(other model.Tool) bool { return other.Name == t.Name }) {
			return nil, invalid(at+".name", "There are two tools with the name "+quote(t.Name)+".")
		}
		schema := t.Parameters
		if !present(schema) {
			schema = nil
		} else if !isObject(schema) {
			return nil, invalid(at+".parameters", "parameters is a JSON Schema of an object.")
		}
		wanted = append(wanted, model.Tool{Name: t.Name, Description: t.Description, InputSchema: slices.Clone(schema)})
	}
	return wanted, nil
}

func validToolName(name string) bool {
	if name == "" || len(name) > maxToolNameChars {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
