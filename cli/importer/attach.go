package importer

import (
	"context"
	"slices"
	"strings"

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
	// differs says why the agent is left alone; empty when it is the same.
	differs string
}

// lookUp finds the agents of the workspace that have the names of those of the export.
func (m *maker) lookUp(ctx context.Context) ([]known, error) {
	var found []known
	for _, agent := range m.plan.Agents {
		list, err := command.All(func(token string) ([]*parlancev1.Agent, string, error) {
			page, err := m.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{
				WorkspaceId: m.WorkspaceID, Q: agent.Base, PageSize: client.PageSize, PageToken: token,
			})
			return page.GetAgents(), page.GetNextPageToken(), err
		})
		if err != nil {
			return nil, m.Explain("list the agents", err)
		}
		for _, have := range list {
			isFound := slices.ContainsFunc(found, func(other known) bool { return other.agent.GetId() == have.GetId() })
			if isFound || !slices.Contains(agent.Names(), have.GetName()) {
				continue
			}
			one, err := m.look(ctx, have)
			if err != nil {
				return nil, m.Explain("look what the agent "+have.GetName()+" uses", err)
			}
			found = append(found, one)
		}
	}
	return found, nil
}

// look finds what an agent uses.
func (m *maker) look(ctx context.Context, agent *parlancev1.Agent) (known, error) {
	found := known{agent: agent, tools: map[string]bool{}, sources: map[string]bool{}}
	tools, err := command.All(func(token string) ([]*parlancev1.AgentTool, string, error) {
		page, err := m.tools.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{
			WorkspaceId: m.WorkspaceID, AgentId: agent.GetId(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetTools(), page.GetNextPageToken(), err
	})
	if err != nil {
		return known{}, err
	}
	for _, tool := range tools {
		found.tools[tool.GetTool().GetId()] = true
	}
	sources, err := command.All(func(token string) ([]*parlancev1.SourceAttachment, string, error) {
		page, err := m.knowledge.ListSourceAttachments(ctx, &parlancev1.ListSourceAttachmentsRequest{
			WorkspaceId: m.WorkspaceID, AgentId: agent.GetId(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetAttachments(), page.GetNextPageToken(), err
	})
	if err != nil {
		return known{}, err
	}
	for _, source := range sources {
		found.sources[source.GetSourceId()] = true
	}
	return found, nil
}

// attach lets an agent use its tools and sources, unless it does already. Those that are not what
// the export means are left alone.
func (m *maker) attach(ctx context.Context, agent *exports.Agent, of result, uses known) {
	enabled := true
	for i, tool := range m.plan.Tools {
		done := &m.done.tools[i]
		if !slices.Contains(agent.Tools, tool) || done.outcome != made && done.outcome != there && done.outcome != updated {
			continue
		}
		done.settle(agent.Want.GetName(), m.join(of, uses.tools[done.id], func() error {
			_, err := m.tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
				WorkspaceId: m.WorkspaceID, AgentId: of.id, ToolId: done.id, Enabled: &enabled,
			})
			return err
		}))
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
		done.settle(agent.Want.GetName(), m.join(of, uses.sources[done.id], func() error {
			_, err := m.knowledge.AttachSources(ctx, &parlancev1.AttachSourcesRequest{
				WorkspaceId: m.WorkspaceID, AgentId: of.id, SourceIds: []string{done.id}, UsageMode: mode,
			})
			return err
		}))
	}
}

// join attaches something to an agent, and says why not. An agent that was changed gets nothing.
func (m *maker) join(agent result, isDone bool, attach func() error) (why string) {
	switch {
	case isDone:
		return ""
	case agent.outcome == differs:
		return "the agent is left alone"
	}
	if err := attach(); err != nil {
		return m.Reason(err)
	}
	return ""
}

// settle notes that a part was attached to an agent, or why it was not.
func (r *result) settle(agent, why string) {
	if why != "" {
		r.missed = append(r.missed, agent+": "+why)
		return
	}
	r.attached = append(r.attached, agent)
}

// judge makes a failure of a part that could not be attached to an agent.
func (r *result) judge() {
	if len(r.missed) > 0 {
		r.outcome, r.why = failed, string(r.outcome)+", but not attached to "+strings.Join(r.missed, "; ")
	}
}
