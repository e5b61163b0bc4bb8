package openai

import (
	"encoding/json"
	"slices"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/voice"
)

// turnDetection is turn_detection as a client sends it.
type turnDetection struct {
	Type              string   `json:"type"`
	Threshold         *float64 `json:"threshold"`
	PrefixPaddingMS   *float64 `json:"prefix_padding_ms"`
	SilenceDurationMS *float64 `json:"silence_duration_ms"`
	IdleTimeoutMS     *float64 `json:"idle_timeout_ms"`
	CreateResponse    *bool    `json:"create_response"`
	InterruptResponse *bool    `json:"interrupt_response"`
	Eagerness         *string  `json:"eagerness"`
}

// serverVAD and semanticVAD are turn_detection as it is shown.
type (
	serverVAD struct {
		Type              string  `json:"type"`
		Threshold         float64 `json:"threshold"`
		PrefixPaddingMS   int     `json:"prefix_padding_ms"`
		SilenceDurationMS int     `json:"silence_duration_ms"`
		IdleTimeoutMS     *int    `json:"idle_timeout_ms"`
		CreateResponse    bool    `json:"create_response"`
		InterruptResponse bool    `json:"interrupt_response"`
	}
	semanticVAD struct {
		Type              string `json:"type"`
		Eagerness         string `json:"eagerness"`
		CreateResponse    bool   `json:"create_response"`
		InterruptResponse bool   `json:"interrupt_response"`
	}
)

// shownDetection is the turn_detection in force; nil when the client commits.
func (d *Dialect) shownDetection() any {
	in := d.audio.detection
	switch in.Type {
	case voice.ServerVAD:
		shown := serverVAD{
			Type: in.Type, Threshold: in.Threshold, PrefixPaddingMS: in.PrefixMS, SilenceDurationMS: in.SilenceMS,
			CreateResponse: in.CreateResponse, InterruptResponse: in.Interrupt,
		}
		if in.IdleMS > 0 {
			shown.IdleTimeoutMS = &in.IdleMS
		}
		return shown
	case voice.SemanticVAD:
		return semanticVAD{in.Type, in.Eagerness, in.CreateResponse, in.Interrupt}
	}
	return nil
}

// Bounds of turn_detection. Source: OpenAI, idle_timeout_ms; the others are our own.
const (
	maxPauseMS = 60_000
	minIdleMS  = 5_000
	maxIdleMS  = 30_000
)

// readDetection reads turn_detection. Members that are left out have the values of the agent.
func readDetection(raw json.RawMessage, current, initial voice.Detection) (voice.Detection, *refusal) {
	const param = "session.audio.input.turn_detection"
	switch {
	case raw == nil:
		return current, nil
	case !dialect.IsPresent(raw):
		return voice.Detection{}, nil
	}
	var asked turnDetection
	isObject := dialect.IsObject(raw) && len(raw) <= maxShownBytes
	if refused := decode(raw, param, &asked); refused != nil && isObject {
		return current, refused
	}
	if !isObject || asked.Type != voice.ServerVAD && asked.Type != voice.SemanticVAD {
		return current, invalid(param, "turn_detection is null or an object with the type server_vad or semantic_vad.")
	}
	detection := initial
	if initial.Type == "" {
		detection = voice.DefaultDetection()
	}
	detection.Type, detection.Eagerness, detection.IdleMS = asked.Type, "auto", 0
	for _, number := range []struct {
		name     string
		value    *float64
		min, max float64
		into     *int
	}{
		{"prefix_padding_ms", asked.PrefixPaddingMS, 0, maxPauseMS, &detection.PrefixMS},
		{"silence_duration_ms", asked.SilenceDurationMS, 0, maxPauseMS, &detection.SilenceMS},
		{"idle_timeout_ms", asked.IdleTimeoutMS, minIdleMS, maxIdleMS, &detection.IdleMS},
	} {
		if number.value == nil {
			continue
		}
		if *number.value < number.min || *number.value > number.max {
			return current, outOfRange(param+"."+number.name, number.min, number.max)
		}
		*number.into = int(*number.value)
	}
	if asked.Threshold != nil {
		if detection.Threshold = *asked.Threshold; *asked.Threshold < 0 || *asked.Threshold > 1 {
			return current, outOfRange(param+".threshold", 0, 1)
		}
	}
	if asked.Eagerness != nil {
		detection.Eagerness = *asked.Eagerness
		if !slices.Contains([]string{"auto", "low", "medium", "high"}, *asked.Eagerness) {
			return current, invalid(param+".eagerness", "eagerness is auto, low, medium or high.")
		}
	}
	if asked.CreateResponse != nil {
		detection.CreateResponse = *asked.CreateResponse
	}
	if asked.InterruptResponse != nil {
		detection.Interrupt = *asked.InterruptResponse
	}
	return detection, nil
}
