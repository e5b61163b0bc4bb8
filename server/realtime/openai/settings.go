package openai

import (
	"encoding/json"
	"slices"
)

// Bounds of what is kept to be shown again, and of speed, which is OpenAI's.
const (
	maxShownBytes = 4 << 10
	minSpeed      = 0.25
	maxSpeed      = 1.5
)

// shownObject is a member that is an object whose type, if it needs one, is one of some.
type shownObject struct {
	param   string
	raw     json.RawMessage
	into    *json.RawMessage
	types   []string
	message string
	// members are what it may have; what it has beside is shown again as it is.
	members any
}

// The members of what a client is shown again: SDKs take them of these types only.
type (
	turnDetection struct {
		Threshold         *float64 `json:"threshold"`
		PrefixPaddingMS   *float64 `json:"prefix_padding_ms"`
		SilenceDurationMS *float64 `json:"silence_duration_ms"`
		IdleTimeoutMS     *float64 `json:"idle_timeout_ms"`
		CreateResponse    *bool    `json:"create_response"`
		InterruptResponse *bool    `json:"interrupt_response"`
		Eagerness         *string  `json:"eagerness"`
	}
	transcription struct {
		Model     *string  `json:"model"`
		Language  *string  `json:"language"`
		Languages []string `json:"languages"`
		Keywords  []string `json:"keywords"`
		Prompt    *string  `json:"prompt"`
		Delay     *string  `json:"delay"`
	}
	tracing struct {
		WorkflowName *string `json:"workflow_name"`
		GroupID      *string `json:"group_id"`
	}
)

// apply takes over what the socket keeps; absent members stay, null clears: began is what was in force first.
func (a *audioSettings) apply(update sessionUpdate, began audioSettings) *refusal {
	var refused *refusal
	if a.input, refused = readFormat("session.audio.input.format", update.Audio.Input.Format, a.input, began.input); refused != nil {
		return refused
	}
	if a.output, refused = readFormat("session.audio.output.format", update.Audio.Output.Format, a.output, began.output); refused != nil {
		return refused
	}
	if a.speed, refused = readSpeed(update.Audio.Output.Speed, a.speed, began.speed); refused != nil {
		return refused
	}
	for _, one := range []shownObject{
		{
			"session.audio.input.turn_detection", update.Audio.Input.TurnDetection, &a.turnDetection,
			[]string{"server_vad", "semantic_vad"},
			"turn_detection is null or an object with the type server_vad or semantic_vad.", new(turnDetection),
		},
		{
			"session.audio.input.noise_reduction", update.Audio.Input.NoiseReduction, &a.noiseReduction,
			[]string{"near_field", "far_field"},
			"noise_reduction is null or an object with the type near_field or far_field.", new(struct{}),
		},
		{
			"session.audio.input.transcription", update.Audio.Input.Transcription, &a.transcription, nil,
			`transcription is null or an object such as {"language": "en"}.`, new(transcription),
		},
	} {
		if refused := one.read(); refused != nil {
			return refused
		}
	}
	return a.applyWords(update)
}

// read takes the member over.
func (o shownObject) read() *refusal {
	if o.raw == nil {
		return nil
	}
	if present(o.raw) {
		var kind struct {
			Type string `json:"type"`
		}
		if !isObject(o.raw) || len(o.raw) > maxShownBytes || json.Unmarshal(o.raw, &kind) != nil || (o.types != nil && !slices.Contains(o.types, kind.Type)) {
			return invalid(o.param, o.message)
		}
		if refused := decode(o.raw, o.param, o.members); refused != nil {
			return refused
		}
	}
	*o.into = slices.Clone(o.raw)
	return nil
}

// applyWords takes over the members that may be a word: tool_choice, which was read for the core too,
// and tracing, which nothing is done with.
func (a *audioSettings) applyWords(update sessionUpdate) *refusal {
	if present(update.ToolChoice) {
		a.toolChoice = slices.Clone(update.ToolChoice)
	} else if update.ToolChoice != nil {
		a.toolChoice = json.RawMessage(`"auto"`)
	}
	if update.Tracing == nil {
		return nil
	}
	var word string
	if present(update.Tracing) && (len(update.Tracing) > maxShownBytes || (!isObject(update.Tracing) && (json.Unmarshal(update.Tracing, &word) != nil || word != "auto"))) {
		return invalid("session.tracing", `tracing is null, "auto" or an object.`)
	}
	if isObject(update.Tracing) {
		if refused := decode(update.Tracing, "session.tracing", new(tracing)); refused != nil {
			return refused
		}
	}
	a.tracing = slices.Clone(update.Tracing)
	return nil
}

func readSpeed(raw json.RawMessage, old, began float64) (float64, *refusal) {
	switch {
	case raw == nil:
		return old, nil
	case !present(raw):
		return began, nil
	}
	var speed float64
	if json.Unmarshal(raw, &speed) != nil || speed < minSpeed || speed > maxSpeed {
		return old, invalid("session.audio.output.speed", "speed is a number from 0.25 to 1.5.")
	}
	return speed, nil
}
