package tools

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/mcpservers"
)

// DisabledReason says why a tool of a registry is off. It is empty when the tool is on.
type DisabledReason string

// The reasons, in the order in which they are checked: first the choices of the operator, then what
// is not possible.
const (
	// ReasonAttachmentDisabled: attached with enabled false.
	ReasonAttachmentDisabled DisabledReason = "attachment_disabled"
	// ReasonNotEnabled: an opt-in built-in that nobody enabled.
	ReasonNotEnabled DisabledReason = "not_enabled"
	// ReasonDisabledTools: named in disabled_tools of the agent.
	ReasonDisabledTools DisabledReason = "disabled_tools"
	// ReasonMemoryOff: a memory tool of an agent whose memory is off.
	ReasonMemoryOff DisabledReason = "memory_off"
	// ReasonShadowed: an earlier tool of the registry has the name.
	ReasonShadowed DisabledReason = "shadowed"
	// ReasonPlan: the plan of the tenant does not include it.
	ReasonPlan DisabledReason = "plan"
	// ReasonNotAvailable: nothing implements it.
	ReasonNotAvailable DisabledReason = "not_available"
	// ReasonUnreachable: the MCP server could not be asked for its tools.
	ReasonUnreachable = DisabledReason(mcpservers.Unreachable)
	// ReasonNoSuchTool: the MCP server has no tool named by mcp_tool_name or allowed_tools.
	ReasonNoSuchTool DisabledReason = "no_such_tool"
	// ReasonNameRefused: a name that cannot be told to a model, or that looks like a built-in tool's.
	ReasonNameRefused = DisabledReason(mcpservers.NameRefused)
	// ReasonSchemaRefused: an input schema of an MCP server that cannot be used.
	ReasonSchemaRefused = DisabledReason(mcpservers.SchemaRefused)
	// ReasonTooMany: more tools of an MCP server, or longer descriptions, than a model can be given.
	ReasonTooMany = DisabledReason(mcpservers.TooMany)
)

// Entry is one tool of the registry of an agent.
type Entry struct {
	// Name, Description and InputSchema are what the model sees.
	Name        string
	Description string
	InputSchema json.RawMessage
	// Enabled says whether the model sees the tool.
	Enabled        bool
	DisabledReason DisabledReason
	// Detail describes to an operator why the tool is off, where DisabledReason is not enough.
	Detail string
	// MaxCallsPerSession is 0 for no cap.
	MaxCallsPerSession int
	// AgentID is the agent that the registry belongs to. Empty for a run.
	AgentID agents.ID
	// NeedsApproval says that the client must allow each call. Package conversation asks for it.
	NeedsApproval bool
	// RemoteTool is the name that an MCP server gives the tool. Empty for other tools.
	RemoteTool string
	Tool       Tool
	// ofDraft says that the session has the settings of a draft: the agent's disabled_tools do not
	// apply to it.
	ofDraft bool
}

func newEntry(tool Tool, attachment Attachment, reason DisabledReason) Entry {
	return Entry{
		Name: tool.Slug, Description: tool.Description, InputSchema: tool.Config.InputSchema,
		Enabled: reason == "", DisabledReason: reason, MaxCallsPerSession: attachment.MaxCallsPerSession, Tool: tool,
	}
}

// Idempotent says whether a call can be cancelled without harm.
func (e Entry) Idempotent() bool { return e.Tool.Idempotent() }

// position identifies an entry within its registry: an MCP tool may have several entries.
func (e Entry) position() string { return string(e.Tool.ID) + " " + e.Name }

// refusal answers a model that calls a tool which is off.
func (e Entry) refusal() *Error {
	code, reason := failure.Disabled, string(e.DisabledReason)
	if e.DisabledReason == ReasonPlan {
		reason = "the plan does not include it"
	}
	switch {
	case e.DisabledReason == ReasonNotAvailable:
		code = failure.NotAvailable
	case e.DisabledReason == ReasonPlan && e.Tool.Kind == KindMCP:
		code = Code(fault.PlanMCPNotEnabled)
	case e.DisabledReason == ReasonPlan:
		code = Code(fault.PlanToolsNotEnabled)
	}
	return failure.New(code, "The tool %s is off for this agent (%s). Do not call it again; go on without it.", e.Name, reason)
}

// Registry is the tools of an agent in the order of the interface: attached custom tools, built-in
// tools, system tools. At most one entry of each name is on. Registries are shared between turns
// and must not be changed.
type Registry []Entry

// Offered iterates over the entries that a model is told about.
func (r Registry) Offered() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for i := range r {
			if r[i].Enabled && !yield(&r[i]) {
				return
			}
		}
	}
}

// Find returns the entry of a name that is on, or else one that is off, which Call refuses.
func (r Registry) Find(name string) (Entry, bool) {
	i := slices.IndexFunc(r, func(e Entry) bool { return e.Name == name && e.Enabled })
	if i < 0 {
		i = slices.IndexFunc(r, func(e Entry) bool { return e.Name == name })
	}
	if i < 0 {
		return Entry{}, false
	}
	return r[i], true
}

// LeftOut iterates over the custom tools that are attached and on and of which a model is told
// nothing: over one entry of each, which has the reason.
func (r Registry) LeftOut() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		seen := map[ID]bool{}
		for tool := range r.Offered() {
			seen[tool.Tool.ID] = true
		}
		for i := range r {
			e := &r[i]
			if e.Tool.Bucket != BucketCustom || e.DisabledReason == ReasonAttachmentDisabled || seen[e.Tool.ID] {
				continue
			}
			seen[e.Tool.ID] = true
			if !yield(e) {
				return
			}
		}
	}
}

// FindServer returns the mcp tool that was left out as a whole and whose server's tools have names
// like this one: a model may repeat a call that it made when they were offered. Call refuses it.
func (r Registry) FindServer(name string) (Entry, bool) {
	for e := range r.LeftOut() {
		if e.Tool.Kind == KindMCP && strings.HasPrefix(name, e.Tool.Slug+"__") {
			return *e, true
		}
	}
	return Entry{}, false
}

// disableDuplicates leaves the first entry of each name on, and marks later ones as shadowed. Slugs
// are unique and never those of built-ins, so this concerns tools of MCP servers, and tools that
// are older than a reserved name.
func (r Registry) disableDuplicates() {
	owned := map[string]bool{}
	for i := range r {
		e := &r[i]
		name := strings.ToLower(e.Name)
		switch {
		case !e.Enabled:
		case owned[name]:
			e.Enabled, e.DisabledReason = false, ReasonShadowed
		default:
			owned[name] = true
		}
	}
}
