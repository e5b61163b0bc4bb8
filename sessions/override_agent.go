package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/workspaces"
)

// Bounds of overrides. Source: the agent's fields in agents.proto.
const (
	maxInstructionsChars = 100_000
	maxFirstMessageChars = 10_000
	maxTopK              = 50
	maxTemperature       = 2
	maxProviderChars     = 64
	maxModelChars        = 200
	maxOutputTokens      = 200_000
	maxFallbacks         = 5
)

// setLanguage sets the language, a BCP 47 tag.
func setLanguage(config *agents.Config, value json.RawMessage) error {
	var tag string
	err := jsonvalue.DecodeStrict(value, &tag)
	canonical, ok := langtag.Canonical(tag)
	if err != nil || !ok {
		return errors.New(`language must be the BCP 47 tag of a language, such as "en" or "de-CH"`)
	}
	config.Language = canonical
	return nil
}

// setModelName sets the model's name, the only part of the model that a client may choose.
func setModelName(config *agents.Config, value json.RawMessage) error {
	var name string
	if jsonvalue.DecodeStrict(value, &name) != nil || name == "" || !isValidText(name, maxModelChars) {
		return errors.New("model must be a model's name, a string of at most " + strconv.Itoa(maxModelChars) + " characters")
	}
	config.Model.Name = name
	return nil
}

// setModel sets the model's name, or the fields of the agent's model that an object has.
func setModel(config *agents.Config, value json.RawMessage) error {
	if bytes.HasPrefix(bytes.TrimSpace(value), []byte(`"`)) {
		return setModelName(config, value)
	}
	changed := config.Model
	changed.Temperature = cloneNumber(changed.Temperature)
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members) // jsonvalue.DecodeStrict refuses what is not an object
	if _, given := members["fallbacks"]; given {
		changed.Fallbacks = nil // the decoder would write into the agent's list, and keep fields that are not given
	}
	if err := jsonvalue.DecodeStrict(value, &changed); err != nil || !validModel(changed) {
		return refusal(err, "model must be a model's name, or an object of provider, name (at most 200 characters), "+
			"temperature (0 to 2), max_output_tokens (0 to 200,000), history_tokens (0, or 500 to 200,000) and fallbacks (at most 5)")
	}
	if err := checkProvider(workspaces.CredentialModel, changed.Provider, config.Model.Provider); err != nil {
		return err
	}
	for _, fallback := range changed.Fallbacks {
		if slices.Contains(config.Model.Fallbacks, fallback) {
			continue
		}
		if err := checkProvider(workspaces.CredentialModel, fallback.Provider, ""); err != nil {
			return err
		}
	}
	config.Model = changed
	return nil
}

// validModel reports whether the model is within the bounds. Source: AgentModel in agents.proto.
func validModel(m agents.Model) bool {
	for _, ref := range append([]agents.ModelRef{{Provider: m.Provider, Name: m.Name}}, m.Fallbacks...) {
		if !isValidText(ref.Provider, maxProviderChars) || !isValidText(ref.Name, maxModelChars) {
			return false
		}
	}
	return m.MaxOutputTokens >= 0 && m.MaxOutputTokens <= maxOutputTokens && len(m.Fallbacks) <= maxFallbacks &&
		validHistory(m.HistoryTokens) && validTemperature(m.Temperature)
}

// validHistory reports whether history_tokens is within its bounds. Source: agents.proto.
func validHistory(tokens int) bool { return tokens == 0 || tokens >= 500 && tokens <= 200_000 }

// validTemperature reports whether the temperature is unset or within its bounds.
func validTemperature(t *float64) bool { return t == nil || (*t >= 0 && *t <= maxTemperature) }

// setTemperature sets the model's temperature.
func setTemperature(config *agents.Config, value json.RawMessage) error {
	var temperature float64
	if jsonvalue.DecodeStrict(value, &temperature) != nil || !validTemperature(&temperature) {
		return errors.New("temperature must be a number from 0 to 2")
	}
	config.Model.Temperature = &temperature
	return nil
}

// setRetrieval sets the fields of the agent's retrieval that an object has.
func setRetrieval(config *agents.Config, value json.RawMessage) error {
	changed := config.Retrieval
	part := struct {
		TopK          *int             `json:"top_k"`
		MinSimilarity *float64         `json:"min_similarity"`
		Ranking       *string          `json:"ranking"`
		Rerank        *bool            `json:"rerank"`
		Tags          agents.TagFilter `json:"tags"`
	}{&changed.TopK, cloneNumber(changed.MinSimilarity), &changed.Ranking, &changed.Rerank, agents.TagFilter{}}
	err := jsonvalue.DecodeStrict(value, &part)
	changed.MinSimilarity, changed.SessionTags = part.MinSimilarity, part.Tags
	if err != nil || changed.SessionTags.Check("tags") != nil || changed.TopK < 1 || changed.TopK > maxTopK ||
		(changed.MinSimilarity != nil && (*changed.MinSimilarity < 0 || *changed.MinSimilarity > 1)) ||
		!slices.Contains([]string{"similarity", "hybrid"}, changed.Ranking) {
		return refusal(err, "retrieval must be an object of top_k (1 to 50), min_similarity (0 to 1), "+
			"ranking (similarity or hybrid), rerank (true or false) and tags (an object of the lists all_of, any_of and none_of)")
	}
	config.Retrieval = changed
	return nil
}

// sessionOverrides are the keys of overrides. Source: decisions, Sessions.
var sessionOverrides = map[string]override{
	"instructions":  setText("instructions", maxInstructionsChars, func(c *agents.Config) *string { return &c.Instructions }),
	"first_message": setText("first_message", maxFirstMessageChars, func(c *agents.Config) *string { return &c.FirstMessage }),
	"language":      setLanguage,
	"model":         setModel,
	"temperature":   setTemperature,
	"voice":         setVoice,
	"retrieval":     setRetrieval,
}
