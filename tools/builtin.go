package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Builtin runs one built-in or system tool.
type Builtin interface {
	// RunBuiltin answers with text for the model. A fault's message reaches the model as the
	// tool's error; any other error is logged and told to the model without its text.
	RunBuiltin(ctx context.Context, call BuiltinCall) (string, error)
}

// BuiltinFunc is a function as a Builtin.
type BuiltinFunc func(ctx context.Context, call BuiltinCall) (string, error)

// RunBuiltin calls f.
func (f BuiltinFunc) RunBuiltin(ctx context.Context, call BuiltinCall) (string, error) {
	return f(ctx, call)
}

// BuiltinCall is one call of a built-in; Arguments match its schema.
type BuiltinCall struct {
	Ref       workspaces.Ref
	SessionID string
	TurnID    string
	CallID    string
	Arguments json.RawMessage
	// Variables are the session's public ones; system__user_id and system__agent_id are among them.
	Variables map[string]string
}

// builtin is a row of the catalog of built-in and system tools.
type builtin struct {
	name        string
	bucket      Bucket
	description string
	inputSchema string
}

// memoryArguments are those that both tools that write memories take besides. A schema with anyOf at its top
// is refused by some models' servers, so which of the arguments go together is checked by package memory.
const memoryArguments = `"forget":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"string","minLength":1,"maxLength":64},"description":"Only when the user asks for it: ids, from search_memory, of what is to be forgotten, or all for everything."},"confirm":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"string","minLength":1,"maxLength":64},"description":"Ids that waited for the user's yes, after the user has said it."}`

// builtins is the catalog in its order: system, then built-in. The names are the interface's.
var builtins = []builtin{
	{
		"end_call", BucketSystem,
		"End the conversation. Call it when the user says goodbye, asks to stop, or when everything has been settled. Say goodbye in the same answer; nothing can be said afterwards.",
		`{"type":"object","properties":{"message":{"type":"string","maxLength":2000,"description":"The farewell that the user hears when you say nothing else with this call, in the language of the conversation. Leave it out when you say goodbye in your answer."},"reason":{"type":"string","maxLength":500,"description":"Why the conversation ends, in a few words."}},"additionalProperties":false}`,
	},
	{
		"language_detection", BucketSystem,
		"Switch the conversation to another language. Call it when the user speaks another language than the current one, or asks for one; then answer in that language.",
		`{"type":"object","properties":{"language":{"type":"string","pattern":"^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$","description":"BCP 47 tag of the language to switch to, e.g. en, de, pt-BR."}},"required":["language"],"additionalProperties":false}`,
	},
	{
		"skip_turn", BucketSystem,
		"Say nothing now and wait for the user. Call it when the user asks for a moment, is thinking aloud, or is talking to somebody else.",
		`{"type":"object","properties":{"reason":{"type":"string","maxLength":500,"description":"Why nothing is said."}},"additionalProperties":false}`,
	},
	{
		"search_memory", BucketMemory,
		"Search what is remembered about this user from earlier conversations. Call it before asking the user for something they may already have told.",
		`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":1000,"description":"What to look for, in words."},"top_k":{"type":"integer","minimum":1,"maximum":20,"description":"How many notes to return; 5 when omitted."}},"required":["query"],"additionalProperties":false}`,
	},
	{
		"add_memory_note", BucketMemory,
		"Remember a fact about this user for later conversations, such as a preference, a decision or an open request: give text. One fact a note, understandable without this conversation. Never store passwords or card numbers. When the user wants something forgotten, give forget instead; when they have agreed that something may be remembered, confirm.",
		`{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":2000,"description":"The fact, as one or two sentences."},"tags":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1,"maxLength":50},"description":"Words to find it by."},` + memoryArguments + `},"additionalProperties":false}`,
	},
	{
		"record_persona_statement", BucketMemory,
		"Record a lasting statement about who this user is or how they want to be treated, in their own sense, such as how they like to be addressed: give statement. It takes the place of an earlier one about the same category and attribute. When the user wants something forgotten, give forget instead; when they have agreed that something may be remembered, confirm.",
		`{"type":"object","properties":{"statement":{"type":"string","minLength":1,"maxLength":1000,"description":"The statement."},"category":{"type":"string","minLength":1,"maxLength":50,"description":"What it is about, e.g. identity, preference, background, tone."},"attribute":{"type":"string","minLength":1,"maxLength":50,"description":"Of which single thing within the category, e.g. name, language, time of day."},` + memoryArguments + `},"additionalProperties":false}`,
	},
	{
		"schedule_callback", BucketOptIn,
		"Schedule a phone call to the user. Call it only when the user has asked for a call and has confirmed number and time. Give either at or in_minutes.",
		`{"type":"object","properties":{"phone_number":{"type":"string","pattern":"^\\+[1-9][0-9]{6,14}$","description":"Number in E.164, e.g. +4930123456."},"at":{"type":"string","description":"When to call, RFC 3339, or local time in timezone."},"in_minutes":{"type":"integer","minimum":1,"maximum":525600,"description":"Call after this many minutes."},"timezone":{"type":"string","description":"IANA time zone of the user, e.g. Europe/Berlin."},"reason":{"type":"string","maxLength":500,"description":"What the call is about."}},"required":["phone_number"],"additionalProperties":false}`,
	},
	{
		"manage_callback", BucketOptIn,
		"List, cancel or reschedule this user's planned calls. List first: cancel and reschedule take the id from the list. Schedules (sch_…) take cron, or at to move their next run.",
		`{"type":"object","properties":{"action":{"enum":["list","cancel","reschedule"],"description":"What to do."},"callback_id":{"type":"string","description":"cb_… or sch_…; needed for cancel and reschedule."},"at":{"type":"string","description":"The new time, RFC 3339."},"cron":{"type":"string","description":"The new cron expression of a schedule."}},"required":["action"],"additionalProperties":false}`,
	},
}

// id is system:<name> or builtin:<name>.
func (b builtin) id() ID {
	if b.bucket == BucketSystem {
		return ID("system:" + b.name)
	}
	return ID("builtin:" + b.name)
}

// tool is the catalog entry.
func (b builtin) tool() Tool {
	return Tool{
		ID: b.id(), Slug: b.name, Description: b.description, Bucket: b.bucket,
		Config: Config{InputSchema: json.RawMessage(b.inputSchema), TimeoutSeconds: DefaultTimeoutSecondsHTTP, ResponseMaxBytes: DefaultResponseMaxBytes},
	}
}

// builtinByID finds builtin:<name> and system:<name>.
func builtinByID(id ID) (Tool, bool) {
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.id() == id })
	if i < 0 {
		return Tool{}, false
	}
	return builtins[i].tool(), true
}

// builtinTools lists those of some buckets, in the catalog's order.
func builtinTools(buckets ...Bucket) []Tool {
	var list []Tool
	for _, b := range builtins {
		if slices.Contains(buckets, b.bucket) {
			list = append(list, b.tool())
		}
	}
	return list
}

// isReserved says whether a slug is the name of a built-in or system tool, or looks like one
// to a model: in another case, with other separators (endCall, end-call), or with characters that
// look like others (end_caII, sk1p_turn).
func isReserved(slug string) bool {
	folded := foldName(slug)
	return slices.ContainsFunc(builtins, func(b builtin) bool { return foldName(b.name) == folded })
}

// lookAlikes writes alike what looks alike, and leaves separators out. Slugs are ASCII, so the
// letters of other scripts do not come up.
var lookAlikes = strings.NewReplacer(
	"-", "", "_", "", "0", "o", "1", "l", "i", "l", "|", "l", "2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g",
	"rn", "m", "vv", "w", "cl", "d",
)

func foldName(name string) string {
	return lookAlikes.Replace(strings.ToLower(name))
}

// CheckDisabledTools checks an agent's disabled_tools: names of memory-managed and opt-in tools.
// Errors: Invalid system-tool-always-on, Invalid invalid-request, on disabled_tools[i].
func CheckDisabledTools(names []string) error {
	for i, name := range names {
		field := "disabled_tools[" + strconv.Itoa(i) + "]"
		at := slices.IndexFunc(builtins, func(b builtin) bool { return b.name == name })
		if at < 0 {
			return fault.InvalidField(field, "unknown", "%q is not the name of a built-in tool; detach custom tools instead.", name)
		}
		if builtins[at].bucket == BucketSystem {
			return fault.OnField(fault.SystemToolAlwaysOn, field, "%s is a system tool and cannot be disabled.", name)
		}
	}
	return nil
}
