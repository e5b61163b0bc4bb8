package openai

import (
	"encoding/json"
	"slices"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
)

// sessionUpdate is the members of session.update that are read; others are ignored. A member that
// is nil was absent, one that is "null" clears.
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

// configure reads a session.update: this socket's settings with the update applied, and the command
// for the rest. The conversation leaves out what the agent's client_overrides does not name.
func (d *Dialect) configure(raw json.RawMessage) (audioSettings, live.Configure, *refusal) {
	audio := d.audio
	var update sessionUpdate
	if refused := decode(raw, "session", &update); refused != nil {
		return audio, live.Configure{}, refused
	}
	if update.Type != "" && update.Type != "realtime" {
		return audio, live.Configure{}, invalid("session.type",
			"Only sessions of the type \"realtime\" exist here.")
	}
	if refused := audio.apply(update, newAudioSettings(d.initialVoice)); refused != nil {
		return audio, live.Configure{}, refused
	}
	modalities, refused := readModalities("session.output_modalities", update.OutputModalities)
	if refused != nil {
		return audio, live.Configure{}, refused
	}
	if modalities != nil {
		audio.textOnly = !slices.Contains(modalities, "audio")
	}
	command := live.Configure{Overrides: map[string]json.RawMessage{}}
	if dialect.IsPresent(update.Instructions) {
		command.Overrides["instructions"] = update.Instructions
	} else if update.Instructions != nil {
		command.Overrides["instructions"] = json.RawMessage(`""`)
	}
	if dialect.IsPresent(update.Model) {
		command.Overrides["model"] = update.Model
	} else if update.Model != nil {
		command.Restore = append(command.Restore, "model")
	}
	if voice := update.Audio.Output.Voice; dialect.IsPresent(voice) {
		command.Overrides["voice"] = d.voiceOverride(voice)
	} else if voice != nil {
		command.Restore = append(command.Restore, "voice")
	}
	refused = readAnswerSettings(update, &command)
	return audio, command, refused
}

// readAnswerSettings reads the settings of answers.
func readAnswerSettings(update sessionUpdate, command *live.Configure) (refused *refusal) {
	command.MaxOutputTokens, refused = readMaxTokens("session.max_output_tokens", update.MaxOutputTokens)
	if refused != nil {
		return refused
	}
	command.ToolChoice, refused = readToolChoice("session.tool_choice", update.ToolChoice)
	if refused != nil {
		return refused
	}
	command.ClientTools, refused = readClientTools("session.tools", update.Tools)
	return refused
}

// voiceOverride is the override "voice": the agent's tts settings with another voice.
func (d *Dialect) voiceOverride(voice json.RawMessage) json.RawMessage {
	tts := dialect.MergeSettings(d.session.Config.Voice.TTS, map[string]json.RawMessage{"voice": voice})
	return slices.Concat(json.RawMessage(`{"tts":`), tts, json.RawMessage(`}`))
}
