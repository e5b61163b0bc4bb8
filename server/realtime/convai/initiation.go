package convai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice"
)

const (
	// overrideMember is the member with the client's overrides of the agent's configuration.
	overrideMember = "conversation_config_override"
	// keyFirstMessage is the conversation's key of that override.
	keyFirstMessage = "first_message"
	// metadataPause is how long nothing follows the metadata, not even an error or what a returning
	// client missed. The SDK starts to listen a moment after the metadata, and loses a message that
	// arrives together with it. Source: realtime.md, section 2, which asks for 20 to 50 ms.
	metadataPause = 40 * time.Millisecond
)

// configOverride is the supported members of conversation_config_override, object by object.
type configOverride struct {
	Agent struct {
		FirstMessage json.RawMessage   `json:"first_message"`
		Language     json.RawMessage   `json:"language"`
		MCPServers   []json.RawMessage `json:"native_mcp_server_ids"`
	}
	Prompt struct {
		Prompt json.RawMessage `json:"prompt"`
		Model  json.RawMessage `json:"llm"`
	}
	TTS struct {
		VoiceID    json.RawMessage `json:"voice_id"`
		Speed      json.RawMessage `json:"speed"`
		Stability  json.RawMessage `json:"stability"`
		Similarity json.RawMessage `json:"similarity_boost"`
	}
	ASR struct {
		Keywords json.RawMessage `json:"keywords"`
	}
	Conversation struct {
		ClientEvents []string `json:"client_events"`
		TextOnly     bool     `json:"text_only"`
	}
}

// fieldNames are the protocol's names of the conversation's overrides.
var fieldNames = map[string]string{
	"instructions": "agent.prompt.prompt", "model": "agent.prompt.llm",
	keyFirstMessage: "agent.first_message", "language": "agent.language", "tts": "tts", "stt": "asr",
}

// initiate takes the initiation data: the settings of the session that the client chooses. An error
// names what the client may not have, and the conversation goes on without.
func (d *Dialect) initiate(e clientEvent) {
	if d.initiated {
		d.refuse(e.Type, invalid(typeInvalid, "",
			"The conversation was initiated already. Send this event once, first."))
		return
	}
	d.initiated = true
	override := d.readOverrides(e)
	command := live.Configure{CommandID: commandInitiate, Overrides: d.overridesOf(override)}
	d.refuseLateFirstMessage(command.Overrides)
	variables, wrong, refused := readVariables(e.DynamicVariables)
	if refused != nil {
		d.refuse(e.Type, refused)
	}
	command.Variables = variables
	d.refuseFields(typeValue, fault.InvalidRequest, wrong)
	if len(override.Conversation.ClientEvents) > 0 {
		d.enabled = map[string]bool{}
		for _, name := range override.Conversation.ClientEvents {
			d.enabled[name] = true
		}
	}
	if d.textOnly = override.Conversation.TextOnly; d.textOnly && d.channel == sessions.VoiceChannel {
		d.step.Command(voice.Configure{TextOnly: &d.textOnly})
	}
	d.refuseUnsupported(e, override)
	d.refuseUnknownMembers(e)
	if len(command.Overrides)+len(command.Variables) > 0 {
		d.step.Command(command)
	}
	d.greet()
}

// greet asks for the first message, once.
func (d *Dialect) greet() {
	if d.greeted {
		return
	}
	d.greeted = true
	d.step.Command(live.Greet{})
	if !d.settled {
		d.step.Pause = metadataPause
	} else {
		d.step.Pause = time.Nanosecond // ends dataPause
	}
}

// readOverrides reads the overrides. An object of the wrong type is refused and left out; the other
// objects count.
func (d *Dialect) readOverrides(e clientEvent) (override configOverride) {
	if !dialect.IsPresent(e.Overrides) {
		return override
	}
	var members map[string]json.RawMessage
	if refused := decode(e.Overrides, overrideMember, &members); refused != nil {
		d.refuse(e.Type, refused)
		return override
	}
	for _, part := range []struct {
		path string
		into any
	}{
		{"agent", &override.Agent},
		{"agent.prompt", &override.Prompt},
		{"tts", &override.TTS},
		{"asr", &override.ASR},
		{"conversation", &override.Conversation},
	} {
		object := memberAt(e.Overrides, part.path)
		if !dialect.IsPresent(object) {
			continue
		}
		if refused := decode(object, overrideMember+"."+part.path, part.into); refused != nil {
			d.refuse(e.Type, refused)
			if part.path == "conversation" {
				override.Conversation.ClientEvents = nil // it may have been read in part
			}
		}
	}
	return override
}

// refuseLateFirstMessage refuses a first message that comes too late. A returning client, which
// sends the same again, gets no error: its first message has been said.
func (d *Dialect) refuseLateFirstMessage(overrides map[string]json.RawMessage) {
	if overrides[keyFirstMessage] == nil || !d.greeted || d.returning ||
		!sessions.ClientMay(d.session.Config, keyFirstMessage) {
		return
	}
	delete(overrides, keyFirstMessage)
	d.refuseFields(typeValue, fault.InvalidRequest, []errorField{{
		Field: overrideMember + "." + fieldNames[keyFirstMessage], Code: typeValue,
		Message: "The conversation has begun, and the first message has been said, if there is one." +
			" Send this event first, within a second.",
	}})
}

// refuseUnsupported refuses what does not exist here.
func (d *Dialect) refuseUnsupported(e clientEvent, override configOverride) {
	if len(override.Agent.MCPServers) > 0 {
		d.refuse(e.Type, invalid(typeOverride, overrideMember+".agent.native_mcp_server_ids",
			"A client cannot add MCP servers. Attach tools of the kind mcp to the agent."))
	}
	if dialect.IsPresent(e.ExtraBody) && string(e.ExtraBody) != "{}" {
		d.refuse(e.Type, invalid(typeValue, "custom_llm_extra_body",
			"Nothing of a client's is passed on to the model's provider."+
				" Set the agent's model, or the session's override of it, instead."))
	}
	if dialect.IsPresent(e.ToolMocks) {
		d.refuse(e.Type, invalid(typeValue, "tool_mock_config", "Tools cannot be mocked from a client."))
	}
	var user string
	if dialect.IsPresent(e.UserID) && (json.Unmarshal(e.UserID, &user) != nil || user != d.session.UserID) {
		d.refuse(e.Type, invalid(typeValue, "user_id",
			"The user is the one the session was created for, whatever user_id says."))
	}
}

// overridesOf is the client's overrides as the conversation names them.
func (d *Dialect) overridesOf(override configOverride) map[string]json.RawMessage {
	overrides := map[string]json.RawMessage{}
	set := func(key string, value json.RawMessage) {
		if dialect.IsPresent(value) {
			overrides[key] = value
		}
	}
	set("instructions", override.Prompt.Prompt)
	set("model", override.Prompt.Model)
	set(keyFirstMessage, override.Agent.FirstMessage)
	set("language", override.Agent.Language)
	setMembers := func(key string, settings json.RawMessage, values map[string]json.RawMessage) {
		maps.DeleteFunc(values, func(_ string, value json.RawMessage) bool { return !dialect.IsPresent(value) })
		if len(values) > 0 {
			overrides[key] = dialect.MergeSettings(settings, values)
		}
	}
	setMembers("tts", d.session.Config.Voice.TTS, map[string]json.RawMessage{
		"voice": override.TTS.VoiceID, "speed": override.TTS.Speed,
		"stability": override.TTS.Stability, "similarity_boost": override.TTS.Similarity,
	})
	setMembers("stt", d.session.Config.Voice.STT, map[string]json.RawMessage{"keywords": override.ASR.Keywords})
	return overrides
}

// readVariables is the dynamic variables as text; the protocol allows numbers and booleans too.
// wrong names the variables that are something else.
func readVariables(sent json.RawMessage) (texts map[string]string, wrong []errorField, _ *refusal) {
	if !dialect.IsPresent(sent) {
		return nil, nil, nil
	}
	var values map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(sent)))
	decoder.UseNumber()
	if decoder.Decode(&values) != nil {
		return nil, nil, invalid(typeValue, "dynamic_variables", "dynamic_variables is an object.")
	}
	texts = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values[name].(type) {
		case string:
			texts[name] = v
		case json.Number:
			texts[name] = v.String()
		case bool:
			texts[name] = strconv.FormatBool(v)
		default:
			wrong = append(wrong, errorField{
				Field: "dynamic_variables." + name, Code: typeValue,
				Message: "Its value must be a string, a number or a boolean.",
			})
		}
	}
	return texts, wrong, nil
}

// configured takes the settings in force, and sends the client those of its own that were refused.
func (d *Dialect) configured(e live.Configured) {
	d.session = e.Session
	if e.CommandID != commandInitiate || len(e.Refused) == 0 {
		return
	}
	var overrides, values []errorField
	for _, refused := range e.Refused {
		if name, ok := strings.CutPrefix(refused.Field, "dynamic_variables"); ok {
			values = append(values, errorField{
				Field: "dynamic_variables" + name, Code: refused.Code, Message: refused.Message,
			})
			continue
		}
		overrides = append(overrides, errorField{
			Field: overrideMember + "." + fieldNames[refused.Field],
			Code:  refused.Code, Message: refused.Message,
		})
	}
	d.refuseFields(typeOverride, fault.OverrideNotAllowed, overrides)
	d.refuseFields(typeValue, fault.InvalidRequest, values)
}
