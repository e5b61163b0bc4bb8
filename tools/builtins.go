package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
)

// builtin is a built-in or system tool of the catalog.
type builtin struct {
	name        string
	bucket      Bucket
	description string
	inputSchema json.RawMessage
}

// memoryArguments are the properties that both tools that write memories have in common. Package
// memory checks which of them go together: some model servers refuse a schema with anyOf at its
// top.
const memoryArguments = `
	"forget": {
		"type": "array",
		"minItems": 1,
		"maxItems": 50,
		"items": {"type": "string", "minLength": 1, "maxLength": 64},
		"description": "Only when the user asks for it: ids, from search_memory, of what is to be forgotten, or all for everything."
	},
	"confirm": {
		"type": "array",
		"minItems": 1,
		"maxItems": 50,
		"items": {"type": "string", "minLength": 1, "maxLength": 64},
		"description": "Ids that waited for the user's yes, after the user has said it."
	}`

// builtins is the catalog in its order: system, then built-in. Source of the names: interface,
// Tool.
var builtins = []builtin{
	{
		name: "end_call", bucket: BucketSystem,
		description: "End the conversation. Call it when the user says goodbye, asks to stop, or when everything has been " +
			"settled. Say goodbye in the same answer; nothing can be said afterwards.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"message": {
					"type": "string",
					"maxLength": 2000,
					"description": "The farewell that the user hears when you say nothing else with this call, ` +
			`in the language of the conversation. Leave it out when you say goodbye in your answer."
				},
				"reason": {"type": "string", "maxLength": 500, "description": "Why the conversation ends, in a few words."}
			},
			"additionalProperties": false
		}`),
	},
	{
		name: "language_detection", bucket: BucketSystem,
		description: "Switch the conversation to another language. Call it when the user speaks another language than the " +
			"current one, or asks for one; then answer in that language.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"language": {
					"type": "string",
					"pattern": "^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$",
					"description": "BCP 47 tag of the language to switch to, e.g. en, de, pt-BR."
				}
			},
			"required": ["language"],
			"additionalProperties": false
		}`),
	},
	{
		name: "skip_turn", bucket: BucketSystem,
		description: "Say nothing now and wait for the user. Call it when the user asks for a moment, is thinking aloud, or is " +
			"talking to somebody else.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"reason": {"type": "string", "maxLength": 500, "description": "Why nothing is said."}
			},
			"additionalProperties": false
		}`),
	},
	{
		name: "search_memory", bucket: BucketMemory,
		description: "Search what is remembered about this user from earlier conversations. Call it before asking the user for " +
			"something they may already have told.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for, in words."},
				"top_k": {
					"type": "integer",
					"minimum": 1,
					"maximum": 20,
					"description": "How many notes to return; 5 when omitted."
				}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
	},
	{
		name: "add_memory_note", bucket: BucketMemory,
		description: "Remember a fact about this user for later conversations, such as a preference, a decision or an open " +
			"request: give text. One fact a note, understandable without this conversation. Never store passwords or " +
			"card numbers. When the user wants something forgotten, give forget instead; when they have agreed that " +
			"something may be remembered, confirm.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"text": {
					"type": "string",
					"minLength": 1,
					"maxLength": 2000,
					"description": "The fact, as one or two sentences."
				},
				"tags": {
					"type": "array",
					"maxItems": 10,
					"items": {"type": "string", "minLength": 1, "maxLength": 50},
					"description": "Words to find it by."
				},` + memoryArguments + `
			},
			"additionalProperties": false
		}`),
	},
	{
		name: "record_persona_statement", bucket: BucketMemory,
		description: "Record a lasting statement about who this user is or how they want to be treated, in their own sense, such " +
			"as how they like to be addressed: give statement. It takes the place of an earlier one about the same " +
			"category and attribute. When the user wants something forgotten, give forget instead; when they have " +
			"agreed that something may be remembered, confirm.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"statement": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The statement."},
				"category": {
					"type": "string",
					"minLength": 1,
					"maxLength": 50,
					"description": "What it is about, e.g. identity, preference, background, tone."
				},
				"attribute": {
					"type": "string",
					"minLength": 1,
					"maxLength": 50,
					"description": "Of which single thing within the category, e.g. name, language, time of day."
				},` + memoryArguments + `
			},
			"additionalProperties": false
		}`),
	},
	{
		name: "schedule_callback", bucket: BucketOptIn,
		description: "Schedule a phone call to the user. Call it only when the user has asked for a call and has confirmed " +
			"number and time. Give either at or in_minutes.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"phone_number": {
					"type": "string",
					"pattern": "^\\+[1-9][0-9]{6,14}$",
					"description": "Number in E.164, e.g. +4930123456."
				},
				"at": {"type": "string", "description": "When to call, RFC 3339, or local time in timezone."},
				"in_minutes": {
					"type": "integer",
					"minimum": 1,
					"maximum": 525600,
					"description": "Call after this many minutes."
				},
				"timezone": {"type": "string", "description": "IANA time zone of the user, e.g. Europe/Berlin."},
				"reason": {"type": "string", "maxLength": 500, "description": "What the call is about."}
			},
			"required": ["phone_number"],
			"additionalProperties": false
		}`),
	},
	{
		name: "manage_callback", bucket: BucketOptIn,
		description: "List, cancel or reschedule this user's planned calls. List first: cancel and reschedule take the id from " +
			"the list. Schedules (sch_…) take cron, or at to move their next run.",
		inputSchema: compact(`{
			"type": "object",
			"properties": {
				"action": {"enum": ["list", "cancel", "reschedule"], "description": "What to do."},
				"callback_id": {"type": "string", "description": "cb_… or sch_…; needed for cancel and reschedule."},
				"at": {"type": "string", "description": "The new time, RFC 3339."},
				"cron": {"type": "string", "description": "The new cron expression of a schedule."}
			},
			"required": ["action"],
			"additionalProperties": false
		}`),
	},
}

// compact removes the white space that the schemas above are laid out with.
func compact(text string) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		panic(err) // a schema of this file is not JSON
	}
	return out.Bytes()
}

// id is system:<name> or builtin:<name>.
func (b builtin) id() ID {
	if b.bucket == BucketSystem {
		return ID("system:" + b.name)
	}
	return ID("builtin:" + b.name)
}

// tool is the entry in the catalog.
func (b builtin) tool() Tool {
	return Tool{
		ID: b.id(), Slug: b.name, Description: b.description, Bucket: b.bucket,
		Config: Config{
			InputSchema: b.inputSchema, TimeoutSeconds: DefaultTimeoutSecondsHTTP, ResponseMaxBytes: DefaultResponseMaxBytes,
		},
	}
}

// builtinByID finds a tool by builtin:<name> or system:<name>.
func builtinByID(id ID) (Tool, bool) {
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.id() == id })
	if i < 0 {
		return Tool{}, false
	}
	return builtins[i].tool(), true
}

// builtinTools lists the tools of some buckets, in the order of the catalog.
func builtinTools(buckets ...Bucket) []Tool {
	var list []Tool
	for _, b := range builtins {
		if slices.Contains(buckets, b.bucket) {
			list = append(list, b.tool())
		}
	}
	return list
}

// isReserved says whether a slug is the name of a built-in or system tool, or looks like one to a
// model: in another case, with other separators (endCall, end-call), or with similar characters
// (end_caII, sk1p_turn).
func isReserved(slug string) bool {
	folded := foldName(slug)
	return slices.ContainsFunc(builtins, func(b builtin) bool { return foldName(b.name) == folded })
}

// lookAlikes replaces characters that look alike by one of them, and removes separators. Slugs are
// ASCII, so there are no letters of other scripts.
var lookAlikes = strings.NewReplacer(
	"-", "", "_", "", "0", "o", "1", "l", "i", "l", "|", "l", "2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g",
	"rn", "m", "vv", "w", "cl", "d",
)

func foldName(name string) string {
	return lookAlikes.Replace(strings.ToLower(name))
}

// CheckDisabledTools checks the disabled_tools of an agent: names of memory-managed and opt-in
// tools. Errors: Invalid system-tool-always-on, Invalid invalid-request, on disabled_tools[i].
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
