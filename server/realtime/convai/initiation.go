package convai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// The ids of commands, which come back in what the core says of them.
const (
	commandTools     = "client_tools"
	commandInitiate  = "conversation_initiation_client_data"
	commandHear      = "user_message"
	commandContext   = "contextual_update"
	commandInterrupt = "interruption"
	commandResult    = "client_tool_result"
	commandApproval  = "mcp_tool_approval_result"
	commandFeedback  = "feedback"
)

const (
	// overrideMember holds what a client wants otherwise than the agent has it.
	overrideMember = "conversation_config_override"
	// keyFirstMessage is the core's key of the override.
	keyFirstMessage = "first_message"
)

// configOverride is conversation_config_override as far as it means something here, object by object.
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
	}
}

// fieldNames are the protocol's names of what the core calls otherwise.
var fieldNames = map[string]string{
	"instructions": "agent.prompt.prompt", "model": "agent.prompt.llm", keyFirstMessage: "agent.first_message",
	"language": "agent.language", "tts": "tts", "stt": "asr",
}

// initiate takes what the client wants of the session. What it may not have is told in one error, and
// the conversation goes on without.
func (d *Dialect) initiate(f frame) {
	if d.initiated {
		d.refuse(f.Type, invalid(typeInvalid, "", "The conversation was initiated already. Send this event once, first."))
		return
	}
	d.initiated = true
	wanted := d.readOverrides(f)
	command := live.Configure{CommandID: commandInitiate, Overrides: d.overrides(wanted)}
	d.refuseLate(command.Overrides)
	values, wrong, refused := variables(f.DynamicVariables)
	if refused != nil {
		d.refuse(f.Type, refused)
	}
	command.Variables = values
	d.refuseFields(typeValue, fault.InvalidRequest, wrong)
	if len(wanted.Conversation.ClientEvents) > 0 {
		d.wanted = map[string]bool{}
		for _, name := range wanted.Conversation.ClientEvents {
			d.wanted[name] = true
		}
	}
	d.refuseRest(f, wanted)
	d.refuseStrange(f)
	if len(command.Overrides)+len(command.Variables) > 0 {
		d.do(command)
	}
	d.begin()
}

// readOverrides reads the overrides. Those in an object of the wrong type, which is told, are left out; the others stay.
func (d *Dialect) readOverrides(f frame) (wanted configOverride) {
	if !present(f.Overrides) {
		return wanted
	}
	var members map[string]json.RawMessage
	if refused := decode(f.Overrides, overrideMember, &members); refused != nil {
		d.refuse(f.Type, refused)
		return wanted
	}
	for _, part := range []struct {
		at   string
		into any
	}{
		{"agent", &wanted.Agent}, {"agent.prompt", &wanted.Prompt}, {"tts", &wanted.TTS}, {"asr", &wanted.ASR}, {"conversation", &wanted.Conversation},
	} {
		object := memberAt(f.Overrides, part.at)
		if !present(object) {
			continue
		}
		if refused := decode(object, overrideMember+"."+part.at, part.into); refused != nil {
			d.refuse(f.Type, refused)
			if part.at == "conversation" {
				wanted.Conversation.ClientEvents = nil // some of its events would be none
			}
		}
	}
	return wanted
}

// refuseLate tells a client whose first message comes too late to be said. One that comes back sends it again, and
// is not told: it has been said.
func (d *Dialect) refuseLate(overrides map[string]json.RawMessage) {
	if overrides[keyFirstMessage] == nil || !d.begun || d.returned || !sessions.ClientMay(d.session.Config, keyFirstMessage) {
		return
	}
	delete(overrides, keyFirstMessage)
	d.refuseFields(typeValue, fault.InvalidRequest, []errorField{{
		Field: overrideMember + "." + fieldNames[keyFirstMessage], Code: typeValue,
		Message: "The conversation has begun, and the first message has been said, if there is one. Send this event first, within a second.",
	}})
}

// refuseRest tells of what has no meaning here.
func (d *Dialect) refuseRest(f frame, wanted configOverride) {
	if len(wanted.Agent.MCPServers) > 0 {
		d.refuse(f.Type, invalid(typeOverride, overrideMember+".agent.native_mcp_server_ids", "A client cannot add MCP servers. Attach tools of the kind mcp to the agent."))
	}
	if present(f.ExtraBody) && string(f.ExtraBody) != "{}" {
		d.refuse(f.Type, invalid(typeValue, "custom_llm_extra_body", "Nothing of a client's is passed on to the model's provider. Set the agent's model, or the session's override of it, instead."))
	}
	if present(f.ToolMocks) {
		d.refuse(f.Type, invalid(typeValue, "tool_mock_config", "Tools cannot be mocked from a client."))
	}
	var user string
	if present(f.UserID) && (json.Unmarshal(f.UserID, &user) != nil || user != d.session.UserID) {
		d.refuse(f.Type, invalid(typeValue, "user_id", "The user is the one the session was created for, whatever user_id says."))
	}
}

// overrides are the wishes as the core's overrides.
func (d *Dialect) overrides(wanted configOverride) map[string]json.RawMessage {
	overrides := map[string]json.RawMessage{}
	set := func(key string, value json.RawMessage) {
		if present(value) {
			overrides[key] = value
		}
	}
	set("instructions", wanted.Prompt.Prompt)
	set("model", wanted.Prompt.Model)
	set(keyFirstMessage, wanted.Agent.FirstMessage)
	set("language", wanted.Agent.Language)
	set("tts", merged(d.session.Config.Voice.TTS, map[string]json.RawMessage{
		"voice": wanted.TTS.VoiceID, "speed": wanted.TTS.Speed, "stability": wanted.TTS.Stability, "similarity_boost": wanted.TTS.Similarity,
	}))
	set("stt", merged(d.session.Config.Voice.STT, map[string]json.RawMessage{"keywords": wanted.ASR.Keywords}))
	return overrides
}

// merged is the settings with those of values that are there; nil when none is.
func merged(settings json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	changed := map[string]json.RawMessage{}
	if len(settings) > 0 && json.Unmarshal(settings, &changed) != nil {
		changed = map[string]json.RawMessage{}
	}
	any := false
	for key, value := range values {
		if present(value) {
			changed[key], any = value, true
		}
	}
	if !any {
		return nil
	}
	return raw(changed)
}

// variables are the dynamic variables as text: the protocol lets them be numbers and booleans too. wrong are those
// that are something else, by name.
func variables(sent json.RawMessage) (texts map[string]string, wrong []errorField, _ *refusal) {
	if !present(sent) {
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
			wrong = append(wrong, errorField{Field: "dynamic_variables." + name, Code: typeValue, Message: "Its value must be a string, a number or a boolean."})
		}
	}
	return texts, wrong, nil
}

// configured takes what is in force now, and tells the client what it could not have.
func (d *Dialect) configured(e live.Configured) {
	d.session = e.Session
	if e.CommandID != commandInitiate || len(e.Refused) == 0 {
		return
	}
	var overrides, values []errorField
	for _, refused := range e.Refused {
		if name, ok := strings.CutPrefix(refused.Field, "dynamic_variables"); ok {
			values = append(values, errorField{Field: "dynamic_variables" + name, Code: refused.Code, Message: refused.Message})
			continue
		}
		name := overrideMember + "." + fieldNames[refused.Field]
		overrides = append(overrides, errorField{Field: name, Code: refused.Code, Message: refused.Message})
	}
	d.refuseFields(typeOverride, fault.OverrideNotAllowed, overrides)
	d.refuseFields(typeValue, fault.InvalidRequest, values)
}

func (d *Dialect) refuseFields(errorType string, reason fault.Reason, fields []errorField) {
	if len(fields) == 0 {
		return
	}
	var sentences []string
	for _, f := range fields {
		sentences = append(sentences, f.Field+" was not applied: "+f.Message)
	}
	d.refuse(commandInitiate, &refusal{
		errorType: errorType, reason: reason, fields: fields,
		message: strings.Join(sentences, " ") + " The conversation goes on without.",
	})
}
