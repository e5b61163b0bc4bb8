package tools

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// DisabledReason says why a tool of a registry is off; empty when it is on.
type DisabledReason string

// The reasons, in the order they are looked at: what the operator chose, then what cannot be.
const (
	// ReasonAttachmentDisabled: attached with enabled false.
	ReasonAttachmentDisabled DisabledReason = "attachment_disabled"
	// ReasonNotEnabled: an opt-in built-in that nobody enabled.
	ReasonNotEnabled DisabledReason = "not_enabled"
	// ReasonDisabledTools: named in the agent's disabled_tools.
	ReasonDisabledTools DisabledReason = "disabled_tools"
	// ReasonMemoryOff: a memory tool of an agent whose memory is not enabled.
	ReasonMemoryOff DisabledReason = "memory_off"
	// ReasonShadowed: an earlier tool of the registry has the name.
	ReasonShadowed DisabledReason = "shadowed"
	// ReasonPlan: the tenant's plan does not have it.
	ReasonPlan DisabledReason = "plan"
	// ReasonNotAvailable: not built yet.
	ReasonNotAvailable DisabledReason = "not_available"
)

// Entry is one tool of an agent's registry.
type Entry struct {
	// Name, Description and InputSchema are what the model sees.
	Name        string
	Description string
	InputSchema json.RawMessage
	// Enabled says whether the model sees it at all.
	Enabled        bool
	DisabledReason DisabledReason
	// MaxCallsPerSession 0 is no cap.
	MaxCallsPerSession int
	// AgentID is whose registry this is of; empty for a run.
	AgentID agents.ID
	// NeedsApproval says that a call is made only when the client allows it. Package conversation asks.
	NeedsApproval bool
	// RemoteTool is the MCP server's own name of the tool; empty for others.
	RemoteTool string
	// Detail says in words why it is off, where DisabledReason does not say it all.
	Detail string
	Tool   Tool
}

// Idempotent says whether a call may be cut short without harm.
func (e Entry) Idempotent() bool { return e.Tool.Idempotent() }

// refusal tells a model that called a tool which is off.
func (e Entry) refusal() *Error {
	code := CodeDisabled
	switch {
	case e.DisabledReason == ReasonNotAvailable:
		code = CodeNotAvailable
	case e.DisabledReason == ReasonPlan && e.Tool.Kind == KindMCP:
		code = Code(fault.PlanMCPNotEnabled)
	}
	return refuse(code, "The tool %s is off for this agent (%s). Do not call it again; go on without it.", e.Name, e.DisabledReason)
}

// Registry is an agent's tools in the interface's order: attached custom tools, built-in
// tools, system tools. Of each name at most one entry is on. Agents and turns share registries: nobody changes one.
type Registry []Entry

// Offered are the entries a model is told about, where they stand: they are large.
func (r Registry) Offered() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for i := range r {
			if r[i].Enabled && !yield(&r[i]) {
				return
			}
		}
	}
}

// Find is the entry of that name that is on, or else one that is off: Call refuses and traces it.
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

// Compose makes the registry of an agent as it stands now. The servers of its mcp tools are asked
// with the example variables of a run.
func (s *Service) Compose(ctx context.Context, ref workspaces.Ref, agent agents.Agent) (Registry, error) {
	return s.compose(ctx, agent, mcpContext{ref: ref, variables: NewVariables(stubVariables(s.now())), wait: mcpTurnWait}, nil)
}

func (s *Service) compose(ctx context.Context, agent agents.Agent, m mcpContext, ahead *Ahead) (Registry, error) {
	if ahead == nil || !ahead.asked {
		ahead = &Ahead{attached: true}
		plan, err := s.workspaces.Plan(ctx, m.ref.TenantID)
		if err != nil {
			return nil, err
		}
		ahead.plan = plan
	}
	plan := ahead.plan
	var attachments []Attachment
	var custom map[ID]Tool
	if ahead.attached {
		var err error
		if attachments, err = listAttachments(ctx, s.db, m.ref, agent.ID); err != nil {
			return nil, err
		}
		if custom, err = attachedTools(ctx, s.db, m.ref, attachments); err != nil {
			return nil, err
		}
	}
	key := ""
	if len(attachments) == 0 {
		key = s.bareKey(agent)
		if bare, known := s.bare.Get(key); known {
			return bare, nil
		}
	}
	byTool := map[ID]Attachment{}
	var ask []Tool
	for _, attachment := range attachments {
		byTool[attachment.ToolID] = attachment
		if tool, ok := custom[attachment.ToolID]; ok && tool.Kind == KindMCP && customReason(tool, attachment, plan) == "" {
			ask = append(ask, tool)
		}
	}
	found, err := s.discoverAll(ctx, m, ask)
	if err != nil {
		return nil, err
	}
	var registry Registry
	for _, attachment := range attachments {
		tool, ok := custom[attachment.ToolID]
		if !ok {
			continue
		}
		if servers, asked := found[tool.ID]; asked {
			registry = append(registry, s.mcpEntries(tool, attachment, servers)...)
		} else {
			registry = append(registry, s.entry(tool, attachment, customReason(tool, attachment, plan)))
		}
	}
	for _, tool := range append(builtinTools(BucketMemory, BucketOptIn), builtinTools(BucketSystem)...) {
		attachment := byTool[tool.ID]
		registry = append(registry, s.entry(tool, attachment, s.builtinReason(tool, attachment, agent.Config)))
	}
	for i := range registry {
		registry[i].AgentID = agent.ID
	}
	registry = dedupe(registry)
	if key != "" {
		s.bare.Set(key, registry)
	}
	return registry, nil
}

// bareKey is all that the registry of an agent without attachments depends on.
func (s *Service) bareKey(agent agents.Agent) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return string(agent.ID) + " " + strconv.FormatBool(agent.Config.Memory.Enabled) + " " + strconv.Itoa(len(s.builtins)) + " " + strings.Join(agent.Config.DisabledTools, " ")
}

// Ahead is what of an agent's registry somebody asks the database who asks it anyhow: most agents have
// nothing attached, and then nothing else has to be asked. The zero value knows nothing.
type Ahead struct {
	asked, attached bool
	plan            workspaces.Plan
}

// Steps are the questions; they belong into one [postgres.DB.Ask].
func (a *Ahead) Steps(s *Service, ref workspaces.Ref, agent agents.ID) []postgres.Step {
	return []postgres.Step{s.workspaces.PlanStep(ref.TenantID, &a.plan), {
		SQL:  hasAttachments,
		Args: []any{string(ref.TenantID), string(ref.ID), string(agent)},
		Row: func(scan func(into ...any) error) error {
			a.asked = true
			return scan(&a.attached)
		},
	}}
}

func (s *Service) entry(tool Tool, attachment Attachment, reason DisabledReason) Entry {
	return Entry{
		Name: tool.Slug, Description: tool.Description, InputSchema: tool.Config.InputSchema,
		Enabled: reason == "", DisabledReason: reason, MaxCallsPerSession: attachment.MaxCallsPerSession, Tool: tool,
	}
}

func customReason(tool Tool, attachment Attachment, plan workspaces.Plan) DisabledReason {
	switch {
	case !attachment.Enabled:
		return ReasonAttachmentDisabled
	case !plan.Tools || tool.Kind == KindMCP && !plan.MCP:
		return ReasonPlan
	}
	return ""
}

func (s *Service) builtinReason(tool Tool, attachment Attachment, config agents.Config) DisabledReason {
	switch {
	case tool.Bucket == BucketOptIn && !attachment.Enabled:
		return ReasonNotEnabled
	case tool.Bucket != BucketSystem && slices.Contains(config.DisabledTools, tool.Slug):
		return ReasonDisabledTools
	case tool.Bucket == BucketMemory && !config.Memory.Enabled:
		return ReasonMemoryOff
	}
	if _, ok := s.builtin(tool.Slug); !ok {
		return ReasonNotAvailable
	}
	return ""
}

// dedupe gives each name to the first entry that is on; later ones are shown as shadowed. Slugs are
// unique and never a built-in's, so this matters for the tools of MCP servers, and if a name is
// reserved after a tool took it.
func dedupe(registry Registry) Registry {
	owned := map[string]bool{}
	for i := range registry {
		e := &registry[i]
		name := strings.ToLower(e.Name)
		switch {
		case !e.Enabled:
		case owned[name]:
			e.Enabled, e.DisabledReason = false, ReasonShadowed
		default:
			owned[name] = true
		}
	}
	return registry
}
