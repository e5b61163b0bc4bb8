package tools

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// AttachParams is an attachment.
type AttachParams struct {
	AgentID agents.ID
	// ToolID is that of a custom tool, or builtin:<name>.
	ToolID  ID
	Enabled bool
	// MaxCallsPerSession is from 1 to MaxCallsPerSession, or 0 for no cap. nil keeps the cap of an
	// existing attachment, and is no cap for a new one.
	MaxCallsPerSession *int
}

// Attach binds a tool to an agent. A second call changes the attachment.
// Errors: NotFound, Invalid system-tool-always-on, Invalid invalid-request (a memory-managed
// tool with enabled false, a cap out of range), Forbidden plan-tools-not-enabled and
// plan-mcp-not-enabled.
func (s *Service) Attach(ctx context.Context, ref workspaces.Ref, p AttachParams) (Attachment, error) {
	if n := p.MaxCallsPerSession; n != nil && (*n < 0 || *n > MaxCallsPerSession) {
		return Attachment{}, fault.InvalidField("max_calls_per_session", "out_of_range",
			"max_calls_per_session must be from 1 to 10,000, or 0 for no cap.")
	}
	if _, err := s.agents.Get(ctx, ref, p.AgentID); err != nil {
		return Attachment{}, err
	}
	tool, err := s.Get(ctx, ref, p.ToolID)
	if err != nil {
		return Attachment{}, err
	}
	if err := s.checkAttachable(ctx, ref, tool, p.Enabled); err != nil {
		return Attachment{}, err
	}
	now := s.timestamp()
	attachment := Attachment{
		AgentID: p.AgentID, ToolID: p.ToolID, TenantID: ref.TenantID, WorkspaceID: ref.ID,
		Enabled: p.Enabled, CreatedAt: now, UpdatedAt: now, Slug: tool.Slug,
	}
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if tool.Bucket == BucketCustom {
			// The lock keeps a concurrent Delete from missing the attachment.
			if _, err := selectTool(ctx, tx, ref, p.ToolID, lockForShare); err != nil {
				return err
			}
		}
		return upsertAttachment(ctx, tx, &attachment, p.MaxCallsPerSession)
	})
	if postgres.IsForeignKey(err, "") {
		return Attachment{}, fault.NoSuch("agent", string(p.AgentID)) // deleted concurrently
	}
	return attachment, err
}

// checkAttachable refuses what the bucket of the tool or the plan does not allow.
func (s *Service) checkAttachable(ctx context.Context, ref workspaces.Ref, tool Tool, enabled bool) error {
	if tool.Bucket == BucketCustom {
		return s.checkPlan(ctx, ref, tool.Kind)
	}
	if enabled {
		return nil
	}
	return cannotTurnOff(tool, "enabled")
}

// cannotTurnOff refuses to turn off system and memory-managed tools.
func cannotTurnOff(tool Tool, field string) error {
	switch tool.Bucket {
	case BucketSystem:
		return fault.OnField(fault.SystemToolAlwaysOn, field, "%s is a system tool and is always on.", tool.Slug)
	case BucketMemory:
		return fault.InvalidField(field, "memory_managed",
			"%s is on every agent; put its name into disabled_tools of the agent's tools-config to turn it off.", tool.Slug)
	case BucketOptIn, BucketCustom:
	}
	return nil
}

// Detach removes a tool from an agent. Repeating it is not an error.
// Errors: NotFound, Invalid system-tool-always-on, Invalid invalid-request (memory-managed).
func (s *Service) Detach(ctx context.Context, ref workspaces.Ref, agentID agents.ID, id ID) error {
	if _, err := s.agents.Get(ctx, ref, agentID); err != nil {
		return err
	}
	tool, err := s.Get(ctx, ref, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return s.workspaces.Gone(ctx, s.db, ref.TenantID, "tool", string(id))
	}
	if err != nil {
		return err
	}
	if err := cannotTurnOff(tool, "tool_id"); err != nil {
		return err
	}
	return deleteAttachment(ctx, s.db, ref, agentID, id)
}

// ListAgentTools is the registry of an agent, with the tools that are off. Errors: NotFound.
func (s *Service) ListAgentTools(ctx context.Context, ref workspaces.Ref, agentID agents.ID) (Registry, error) {
	agent, err := s.agents.Get(ctx, ref, agentID)
	if err != nil {
		return nil, err
	}
	return s.Compose(ctx, ref, agent)
}

// PageOfAgentTools is one page of ListAgentTools. A page token has the last entry of the page and
// its index. The index is used if the registry does not have that entry any more. Errors: NotFound,
// Invalid invalid-request on page_size and page_token.
func (s *Service) PageOfAgentTools(
	ctx context.Context, ref workspaces.Ref, agentID agents.ID, params postgres.PageParams,
) (Registry, string, error) {
	registry, err := s.ListAgentTools(ctx, ref, agentID)
	if err != nil {
		return nil, "", err
	}
	params.Filters = []string{string(ref.ID), string(agentID)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	from := 0
	if page.After != nil {
		at := slices.IndexFunc(registry, func(e Entry) bool { return e.position() == page.After.ID })
		if at < 0 {
			at = int(page.After.CreatedAt.UnixMicro()) - 1 // it was detached, and later entries moved up
		}
		from = min(at+1, len(registry))
	}
	rest := registry[from:min(from+page.Limit(), len(registry))]
	shown, next := postgres.Cut(page, rest, func(e Entry) postgres.Key {
		at := slices.IndexFunc(registry, func(other Entry) bool { return other.position() == e.position() })
		return postgres.Key{CreatedAt: time.UnixMicro(int64(at)), ID: e.position()}
	})
	return shown, next, nil
}

// UpdateConfig replaces the disabled_tools of an agent, without duplicates, and returns its
// configuration. With expected versions the agent must be at one of them. Errors: NotFound, Invalid
// system-tool-always-on, Invalid invalid-request on disabled_tools[i], Outdated version-mismatch.
func (s *Service) UpdateConfig(
	ctx context.Context, ref workspaces.Ref, agentID agents.ID, disabledTools []string, expected ...int,
) (agents.Config, error) {
	if err := CheckDisabledTools(disabledTools); err != nil {
		// For an agent of another workspace the error is NotFound, whatever else is wrong.
		if _, missing := s.agents.Get(ctx, ref, agentID); missing != nil {
			return agents.Config{}, missing
		}
		return agents.Config{}, err
	}
	names := []string{}
	for _, name := range disabledTools {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	agent, err := s.agents.SetDisabledTools(ctx, ref, agentID, names, expected...)
	return agent.Config, err
}
