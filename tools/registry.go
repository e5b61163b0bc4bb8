package tools

import (
	"context"
	"fmt"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/tools/mcpservers"
	"parlance.dev/parlance/workspaces"
)

// registryParams is for whom a registry is composed.
type registryParams struct {
	ref       workspaces.Ref
	agent     agents.Agent
	sessionID string // empty outside a session
	variables Variables
	prefetch  *Prefetch // nil: nothing was prefetched
}

// Compose makes the registry of an agent as it is now. MCP servers are asked with the example
// variables of a run.
func (s *Service) Compose(ctx context.Context, ref workspaces.Ref, agent agents.Agent) (Registry, error) {
	return s.compose(ctx, registryParams{ref: ref, agent: agent, variables: NewVariables(exampleVariables(s.now()))})
}

// ComposeSession makes the registry of an agent for a turn of a session: as Compose, with the tools
// of MCP servers as they were when the session first used them. agent has the settings of the
// session. The agent's present disabled_tools replace theirs, unless agent.Version is 0, which says
// that they are a draft's. prefetch may be nil.
func (s *Service) ComposeSession(
	ctx context.Context, ref workspaces.Ref, agent agents.Agent, sessionID string, variables Variables, prefetch *Prefetch,
) (Registry, error) {
	return s.compose(ctx, registryParams{ref: ref, agent: agent, sessionID: sessionID, variables: variables, prefetch: prefetch})
}

func (s *Service) compose(ctx context.Context, p registryParams) (Registry, error) {
	known := p.prefetch
	if known == nil || !known.done {
		known = &Prefetch{}
		if _, err := s.db.Pipeline(ctx, known.Steps(s, p.ref, p.agent.ID)...); err != nil {
			return nil, fmt.Errorf("read settings of tools: %w", err)
		}
	}
	if p.agent.Version > 0 && known.disabledTools != nil {
		p.agent.Config.DisabledTools = known.disabledTools
	}
	if !known.hasAttachments {
		return s.withBuiltins(nil, p.agent, nil), nil
	}
	attachments, err := listAttachments(ctx, s.db, p.ref, p.agent.ID)
	if err != nil {
		return nil, err
	}
	if len(attachments) == 0 {
		return s.withBuiltins(nil, p.agent, nil), nil
	}
	custom, err := s.customEntries(ctx, p, known.plan, attachments)
	if err != nil {
		return nil, err
	}
	return s.withBuiltins(custom, p.agent, attachments), nil
}

// withBuiltins appends the built-in and system tools to the custom ones.
func (s *Service) withBuiltins(registry Registry, agent agents.Agent, attachments []Attachment) Registry {
	byTool := map[ID]Attachment{}
	for _, attachment := range attachments {
		byTool[attachment.ToolID] = attachment
	}
	for _, tool := range append(builtinTools(BucketMemory, BucketOptIn), builtinTools(BucketSystem)...) {
		attachment := byTool[tool.ID]
		registry = append(registry, newEntry(tool, attachment, s.builtinReason(tool, attachment, agent.Config)))
	}
	for i := range registry {
		registry[i].AgentID, registry[i].ofDraft = agent.ID, agent.Version == 0
	}
	registry.disableDuplicates()
	return registry
}

// customEntries are the entries of the attached custom tools. The MCP servers among them are asked
// for their tools.
func (s *Service) customEntries(
	ctx context.Context, p registryParams, plan workspaces.Plan, attachments []Attachment,
) (Registry, error) {
	tools, err := attachedTools(ctx, s.db, p.ref, attachments)
	if err != nil {
		return nil, err
	}
	var servers []mcpservers.Server
	for _, attachment := range attachments {
		tool, ok := tools[attachment.ToolID]
		if ok && tool.Kind == KindMCP && customReason(tool, attachment, plan) == "" {
			servers = append(servers, s.mcpServer(p.ref, tool, p.variables.operator))
		}
	}
	query := mcpservers.Query{SessionID: p.sessionID, Wait: mcpservers.TurnWait}
	found, err := s.mcp.DiscoverAll(ctx, p.ref, query, servers)
	if err != nil {
		return nil, err
	}
	var entries Registry
	for _, attachment := range attachments {
		tool, ok := tools[attachment.ToolID]
		if !ok {
			continue
		}
		if list, asked := found[string(tool.ID)]; asked {
			entries = append(entries, mcpEntries(tool, attachment, list)...)
		} else {
			entries = append(entries, newEntry(tool, attachment, customReason(tool, attachment, plan)))
		}
	}
	return entries, nil
}

// Prefetch is a part of the registry of an agent that the caller reads together with other data.
// Most agents have no attachments, and then nothing else has to be read. The zero value knows
// nothing.
type Prefetch struct {
	done           bool
	hasAttachments bool
	// disabledTools are those of the agent; nil: it was deleted.
	disabledTools []string
	plan          workspaces.Plan
}

// Steps are the statements, for one [postgres.DB.Pipeline].
func (p *Prefetch) Steps(s *Service, ref workspaces.Ref, agent agents.ID) []postgres.Step {
	return []postgres.Step{s.workspaces.PlanStep(ref.TenantID, &p.plan), {
		SQL:  agentToolSettings,
		Args: []any{string(ref.TenantID), string(ref.ID), string(agent)},
		Row: func(scan func(into ...any) error) error {
			p.done = true
			return scan(&p.hasAttachments, &p.disabledTools)
		},
	}}
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
