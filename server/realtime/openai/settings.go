package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/server/realtime/dialect"
)

// maxShownBytes bounds JSON that is kept only to be shown to the client again. The bounds of speed
// are OpenAI's.
const (
	maxShownBytes = 4 << 10
	minSpeed      = 0.25
	maxSpeed      = 1.5
)

// shownObject is a setting that is an object and is only shown to the client again.
type shownObject struct {
	param string
	raw   json.RawMessage
	into  *json.RawMessage
	// types, unless nil, are the types that the object may have.
	types []string
	// message is about an object that cannot be read.
	message string
	// members has the types of known members. Others are shown again as they are.
	members any
}

// The known members of shown objects: SDKs expect these types.
type (
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

// apply takes over the settings of this socket. Absent members stay as they are, null restores the
// initial ones.
func (a *audioSettings) apply(update sessionUpdate, initial audioSettings) (refused *refusal) {
	in, out := update.Audio.Input, update.Audio.Output
	a.input, refused = readFormat("session.audio.input.format", in.Format, a.input, initial.input)
	if refused != nil {
		return refused
	}
	a.output, refused = readFormat("session.audio.output.format", out.Format, a.output, initial.output)
	if refused != nil {
		return refused
	}
	if a.speed, refused = readSpeed(out.Speed, a.speed, initial.speed); refused != nil {
		return refused
	}
	for _, object := range []shownObject{
		{
			"session.audio.input.noise_reduction", in.NoiseReduction, &a.noiseReduction,
			[]string{"near_field", "far_field"},
			"noise_reduction is null or an object with the type near_field or far_field.",
			new(struct{}),
		},
		{
			"session.audio.input.transcription", in.Transcription, &a.transcription, nil,
			`transcription is null or an object such as {"language": "en"}.`, new(transcription),
		},
	} {
		if refused := object.read(); refused != nil {
			return refused
		}
	}
	if a.detection, refused = readDetection(in.TurnDetection, a.detection, initial.detection); refused != nil {
		return refused
	}
	a.applyToolChoice(update.ToolChoice)
	return a.applyTracing(update.Tracing)
}

// read takes the setting over.
func (o shownObject) read() *refusal {
	if o.raw == nil {
		return nil
	}
	if dialect.IsPresent(o.raw) {
		var object struct {
			Type string `json:"type"`
		}
		if !dialect.IsObject(o.raw) || len(o.raw) > maxShownBytes ||
			json.Unmarshal(o.raw, &object) != nil ||
			o.types != nil && !slices.Contains(o.types, object.Type) {
			return invalid(o.param, o.message)
		}
		if refused := decode(o.raw, o.param, o.members); refused != nil {
			return refused
		}
	}
	*o.into = slices.Clone(o.raw)
	return nil
}

// applyToolChoice keeps tool_choice as it is shown; readToolChoice checks it.
func (a *audioSettings) applyToolChoice(raw json.RawMessage) {
	if dialect.IsPresent(raw) {
		a.toolChoice = slices.Clone(raw)
	} else if raw != nil {
		a.toolChoice = json.RawMessage(`"auto"`)
	}
}

// applyTracing keeps tracing, which has no effect here.
func (a *audioSettings) applyTracing(raw json.RawMessage) *refusal {
	if raw == nil {
		return nil
	}
	var word string
	isWord := json.Unmarshal(raw, &word) == nil && word == "auto"
	if dialect.IsPresent(raw) && (len(raw) > maxShownBytes || !dialect.IsObject(raw) && !isWord) {
		return invalid("session.tracing", `tracing is null, "auto" or an object.`)
	}
	if dialect.IsObject(raw) {
		if refused := decode(raw, "session.tracing", new(tracing)); refused != nil {
			return refused
		}
	}
	a.tracing = slices.Clone(raw)
	return nil
}

// readFormat is the format in raw; the current one when raw is nil, the initial one for null.
func readFormat(param string, raw json.RawMessage, current, initial format) (format, *refusal) {
	switch {
	case raw == nil:
		return current, nil
	case !dialect.IsPresent(raw):
		return initial, nil
	}
	var requested format
	if json.Unmarshal(raw, &requested) != nil {
		return current, invalid(param,
			`A format is an object such as {"type": "audio/pcm", "rate": 24000}.`)
	}
	switch requested.Type {
	case "audio/pcm":
		if requested.RateHz == 0 {
			requested.RateHz = audio.Default.RateHz
		}
		if requested.RateHz != 24000 && requested.RateHz != 16000 {
			return current, invalid(param+".rate", "The rate of audio/pcm is 24000 or 16000.")
		}
		return requested, nil
	case "audio/pcmu", "audio/pcma":
		return format{Type: requested.Type}, nil
	}
	return current, invalid(param+".type", "The formats are audio/pcm, audio/pcmu and audio/pcma.")
}

func readSpeed(raw json.RawMessage, current, initial float64) (float64, *refusal) {
	switch {
	case raw == nil:
		return current, nil
	case !dialect.IsPresent(raw):
		return initial, nil
	}
	var speed float64
	if json.Unmarshal(raw, &speed) != nil || speed < minSpeed || speed > maxSpeed {
		return current, invalid("session.audio.output.speed", "speed is a number from 0.25 to 1.5.")
	}
	return speed, nil
}

// outOfRange refuses a number.
func outOfRange(param string, least, most float64) *refusal {
	return invalid(param, fmt.Sprintf("%s is a number from %g to %g.", param, least, most))
}
