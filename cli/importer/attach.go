package importer

import (
	"context"
	"slices"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// known is what there is of an agent of the export.
type known struct {
	// agent is nil when there is none of its name.
	agent *parlancev1.Agent
	// tools and sources are the ids of those that it uses.
	tools, sources map[string]bool
	err            error
}

// lookUp finds the agent of the workspace that has the name of one of the export, and what it uses.
func (m *maker) lookUp(ctx context.Context, agent *exports.Agent) known {
	found := known{tools: map[string]bool{}, sources: map[string]bool{}}
	var list []*parlancev1.Agent
	list, found.err = command.All(func(token string) ([]*parlancev1.Agent, string, error) {
		page, err := m.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{
			WorkspaceId: m.WorkspaceID, Q: agent.Want.GetName(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetAgents(), page.GetNextPageToken(), err
	})
	at := slices.IndexFunc(list, func(have *parlancev1.Agent) bool { return have.GetName() == agent.Want.GetName() })
	if found.err != nil || at < 0 {
		return found
	}
	found.agent = list[at]
	var tools []*parlancev1.AgentTool
	tools, found.err = command.All(func(token string) ([]*parlancev1.AgentTool, string, error) {
		page, err := m.tools.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{
			WorkspaceId: m.WorkspaceID, AgentId: found.agent.GetId(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetTools(), page.GetNextPageToken(), err
	})
	for _, tool := range tools {
		found.tools[tool.GetTool().GetId()] = true
	}
	if found.err != nil {
		return found
	}
	var sources []*parlancev1.SourceAttachment
	sources, found.err = command.All(func(token string) ([]*parlancev1.SourceAttachment, string, error) {
		page, err := m.knowledge.ListSourceAttachments(ctx, &parlancev1.ListSourceAttachmentsRequest{
			WorkspaceId: m.WorkspaceID, AgentId: found.agent.GetId(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetAttachments(), page.GetNextPageToken(), err
	})
	for _, source := range sources {
		found.sources[source.GetSourceId()] = true
	}
	return found
}

// attach lets an agent use its tools and sources, unless it does already. Those that are not what
// the export means are left alone.
func (m *maker) attach(ctx context.Context, agent *exports.Agent, id string, uses known) {
	enabled := true
	for i, tool := range m.plan.Tools {
		done := &m.done.tools[i]
		if !slices.Contains(agent.Tools, tool) || done.outcome != made && done.outcome != there && done.outcome != updated {
			continue
		}
		var err error
		if !uses.tools[done.id] {
			_, err = m.tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
				WorkspaceId: m.WorkspaceID, AgentId: id, ToolId: done.id, Enabled: &enabled,
			})
		}
		done.settle(agent.Want.GetName(), m.reasonOf(err))
	}
	for i, source := range m.plan.Sources {
		done := &m.done.sources[i]
		if !slices.Contains(agent.Sources, source) || done.outcome != made && done.outcome != there {
			continue
		}
		mode := ""
		if source.InPrompt {
			mode = "prompt"
		}
		var err error
		if !uses.sources[done.id] {
			_, err = m.knowledge.AttachSources(ctx, &parlancev1.AttachSourcesRequest{
				WorkspaceId: m.WorkspaceID, AgentId: id, SourceIds: []string{done.id}, UsageMode: mode,
			})
		}
		done.settle(agent.Want.GetName(), m.reasonOf(err))
	}
}

func (m *maker) reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return m.Reason(err)
}

// settle notes that a part was attached to an agent, or why it was not.
func (r *result) settle(agent, why string) {
	if why != "" {
		r.outcome, r.why = failed, string(r.outcome)+", but not attached to "+agent+": "+why
		return
	}
	r.attached = append(r.attached, agent)
}
