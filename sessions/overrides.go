package sessions

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
)

// applyOverrides writes the overrides of a new session into the configuration. Errors: Invalid
// invalid-request (unknown keys, wrong types), Invalid override-not-allowed.
func applyOverrides(config *agents.Config, params CreateParams) error {
	locked := config.LockedOverrides
	if err := applyGroup(config, "overrides", sessionOverrides, params.Overrides, locked); err != nil {
		return err
	}
	return applyGroup(config, "voice_stack_override", voiceOverrides, params.VoiceStackOverride, locked)
}

// applyGroup applies the overrides of one group, in the order of their keys.
func applyGroup(config *agents.Config, group string, known map[string]override, values map[string]json.RawMessage, locked []string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		field := group + "." + key
		set, ok := known[key]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			return fault.InvalidField(field, "unknown", "There is no such override. Use one of %s.", names)
		}
		if at, refused := lockedBy(locked, key, values[key]); refused {
			return fault.OnField(fault.OverrideNotAllowed, field, "The agent's locked_overrides has %q.", at)
		}
		if err := set(config, values[key]); err != nil {
			return overrideFault(field, err)
		}
	}
	return nil
}

// overrideFault returns the fault for an override that could not be applied.
func overrideFault(field string, err error) *fault.Error {
	if unknown, ok := errors.AsType[*jsonvalue.UnknownMember](err); ok {
		path, names := unknown.Within(field).Path, strings.Join(unknown.Known, ", ")
		return fault.InvalidField(path, "unknown", "There is no such field. Use one of %s.", names)
	}
	return fault.InvalidField(field, "type", "%s.", err.Error())
}

// lockedBy reports whether a list of locked keys names the override or a member of its value, and
// which. "temperature" is also locked by "model", and each part of the voice stack by "voice".
func lockedBy(keys []string, key string, value json.RawMessage) (at string, refused bool) {
	if slices.Contains(keys, key) {
		return key, true
	}
	if key == "temperature" || slices.Contains(nestedKeys["voice"], key) {
		parent := "voice"
		if key == "temperature" {
			parent = "model"
		}
		if slices.Contains(keys, parent) {
			return parent, true
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "", false // not an object: it has no members
	}
	for _, inner := range nestedKeys[key] {
		if _, ok := members[inner]; ok && slices.Contains(keys, inner) {
			return inner, true
		}
	}
	return "", false
}

// ClientOverrides applies the overrides of a socket that the agent's client_overrides allows. It
// returns the others with the reasons; the decisions say that they are not an error.
func ClientOverrides(config *agents.Config, values map[string]json.RawMessage) (refused []fault.Field) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if why := clientRefusal(*config, key, values[key]); why != "" {
			refused = append(refused, fault.Field{Field: key, Code: string(fault.OverrideNotAllowed), Message: why})
			continue
		}
		changed := *config
		if err := clientOverride(key)(&changed, values[key]); err != nil {
			refused = append(refused, fault.Field{Field: key, Code: "type", Message: err.Error() + "."})
			continue
		}
		*config = changed
	}
	return refused
}

// clientOverride returns the override for a client's value; nil when there is no such key. A client
// chooses only the name of the model: nothing in client_overrides names its provider, bounds or
// fallbacks.
func clientOverride(key string) override {
	switch set, ok := sessionOverrides[key]; {
	case key == "model":
		return setModelName
	case ok:
		return set
	default:
		return voiceOverrides[key]
	}
}

// ClientMay reports whether a client may override the key.
func ClientMay(config agents.Config, key string) bool { return clientRefusal(config, key, nil) == "" }

// clientRefusal returns why a client's override is not applied; empty when it is. A client that
// may override "voice" may override its parts. Locked keys are locked for clients too.
func clientRefusal(config agents.Config, key string, value json.RawMessage) string {
	listed := slices.Contains(config.ClientOverrides, key) ||
		slices.Contains(nestedKeys["voice"], key) && slices.Contains(config.ClientOverrides, "voice")
	if !listed || clientOverride(key) == nil {
		return "The agent's client_overrides does not have " + strconv.Quote(key) + "."
	}
	if at, locked := lockedBy(config.LockedOverrides, key, value); locked {
		return "The agent's locked_overrides has " + strconv.Quote(at) + "."
	}
	return ""
}
