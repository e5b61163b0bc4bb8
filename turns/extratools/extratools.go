package extratools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/tools"
)

// The names of the tools.
const (
	Transfer  = "transfer_to_person"
	PressKeys = "press_keys"
)

// What the model is told about calls.
const (
	tellAsked      = "A person was asked to take over. Tell the user, and say nothing else."
	tellAskedTwice = "A person was asked to take over before, and has not come yet. Nothing was changed. Tell the user to wait."
	tellPressed    = "The keys are being pressed."
)

// askedVariable is among the variables of a call of Transfer when a request is open. No tool can
// use it in a template, for only that call has it.
const askedVariable = "system__handover_requested"

const transferDescription = "Hands the conversation over to a person. Call it when the user asks for a person, or when you cannot help " +
	"and a person could. Give the reason in a sentence, and a summary of what the person should know."

const pressKeysDescription = "Presses keys of the telephone, for menus such as \"press 1 for sales\". Digits are pressed in their order; " +
	"w is a pause of half a second."

const pressKeysSchema = `{"type":"object","properties":{"digits":{"type":"string","pattern":"^[0-9*#wABCD]{1,32}$",` +
	`"description":"The keys, such as 1 or 2w34#."}},"required":["digits"],"additionalProperties":false}`

// transferSchema is the schema of transfer_to_person's arguments. None is required: a guard may
// withhold them, and the person is needed all the same.
func transferSchema(config agents.Handover) (json.RawMessage, error) {
	text := func(maxLength int, description string) map[string]any {
		return map[string]any{"type": "string", "maxLength": maxLength, "description": description}
	}
	properties := map[string]any{
		"reason":  text(500, "Why a person is needed, in a sentence."),
		"summary": text(4000, "What the person should know: what the user wants, and what was said and done."),
	}
	if len(config.Destinations) > 0 {
		names := make([]string, len(config.Destinations))
		for i, d := range config.Destinations {
			names[i] = d.Name
		}
		properties["destination"] = map[string]any{"type": "string", "enum": names, "description": "Who is asked; the first one if absent."}
	}
	encoded, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "additionalProperties": false})
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %s: %w", Transfer, err)
	}
	return encoded, nil
}

// Of returns the tools that the settings of the session's agent turn on and no tool of the registry
// replaces.
func Of(session sessions.Session, registry tools.Registry) (tools.Registry, error) {
	var added tools.Registry
	add := func(name, description string, schema json.RawMessage) {
		if _, taken := registry.Find(name); taken {
			return
		}
		added = append(added, tools.Entry{
			Name: name, Description: description, InputSchema: schema, Enabled: true, AgentID: session.AgentID,
			Tool: tools.Tool{
				ID: tools.ID("system:" + name), Slug: name, Description: description, Bucket: tools.BucketSystem,
				Config: tools.Config{
					InputSchema: schema, TimeoutSeconds: tools.DefaultTimeoutSecondsHTTP, ResponseMaxBytes: tools.DefaultResponseMaxBytes,
				},
			},
		})
	}
	if config := session.Config.Handover; config.Enabled {
		schema, err := transferSchema(config)
		if err != nil {
			return nil, err
		}
		add(Transfer, transferDescription, schema)
	}
	if session.OnTelephone && session.Config.Callbacks.PressKeys {
		add(PressKeys, pressKeysDescription, json.RawMessage(pressKeysSchema))
	}
	return added, nil
}

// Builtins execute the tools for package tools. They only answer the model.
func Builtins() map[string]tools.Builtin {
	return map[string]tools.Builtin{
		Transfer: tools.BuiltinFunc(func(_ context.Context, call tools.BuiltinCall) (string, error) {
			if call.Variables[askedVariable] != "" {
				return tellAskedTwice, nil
			}
			return tellAsked, nil
		}),
		PressKeys: tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) { return tellPressed, nil }),
	}
}

// Asked are the variables of a call of Transfer when a request is open.
func Asked(values tools.Variables) tools.Variables {
	return values.With(map[string]string{askedVariable: "true"})
}

// Request is what a call of Transfer asks for: nothing when a guard has withheld its arguments.
func Request(arguments json.RawMessage) handover.Request {
	var asked handover.Request
	if err := json.Unmarshal(arguments, &asked); err != nil {
		return handover.Request{}
	}
	asked.Reason, asked.Summary = sessions.StorableText(asked.Reason), sessions.StorableText(asked.Summary)
	return asked
}

// Digits are the keys of a call of PressKeys: none when a guard has withheld its arguments.
func Digits(arguments json.RawMessage) string {
	var wanted struct {
		Digits string `json:"digits"`
	}
	if err := json.Unmarshal(arguments, &wanted); err != nil {
		return ""
	}
	return wanted.Digits
}

// Clock returns the time that the model of an agent is told that may plan calls, in whole minutes;
// zero for other agents.
func Clock(registry tools.Registry, now time.Time) time.Time {
	for tool := range registry.Offered() {
		if tool.Tool.ID == "builtin:schedule_callback" || tool.Tool.ID == "builtin:manage_callback" {
			return now.Truncate(time.Minute)
		}
	}
	return time.Time{}
}
