package importer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	"parlance.dev/parlance/cli/kb/intake"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// outcome is what was done about an agent, a tool or a source.
type outcome string

const (
	toMake    outcome = "to be made"
	made      outcome = "made"
	there     outcome = "there already"
	updated   outcome = "secrets set"
	differs   outcome = "there already, and different"
	failed    outcome = "failed"
	notTried  outcome = "not reached"
	beingRead outcome = "made, being read"
)

// result is what became of an agent, a tool or a source.
type result struct {
	outcome outcome
	id      string
	// why is the reason of failed, or what is different.
	why string
	// attached are the names of the agents that a tool or source was attached to.
	attached []string
}

// results are those of a plan, each in the order of the plan.
type results struct {
	agents, tools, sources []result
}

// planned are the results of a dry run.
func planned(plan *exports.Plan) *results {
	all := func(n int) []result { return slices.Repeat([]result{{outcome: toMake}}, n) }
	return &results{agents: all(len(plan.Agents)), tools: all(len(plan.Tools)), sources: all(len(plan.Sources))}
}

// maker makes what a plan says.
type maker struct {
	client.Caller
	tools     parlancev1connect.ToolServiceClient
	knowledge parlancev1connect.KnowledgeServiceClient
	plan      *exports.Plan
	secrets   secrets
	userAgent string
	noWait    bool
	done      *results
}

// run makes what is not there yet. A part that cannot be made does not stop the others. It
// returns nil results when nothing was begun.
func (m *maker) run(ctx context.Context) (*results, error) {
	catalog, err := m.catalog(ctx)
	if err != nil {
		return nil, err
	}
	list, err := command.All(intake.SourcePages(ctx, m.knowledge, &parlancev1.ListSourcesRequest{WorkspaceId: m.WorkspaceID}))
	if err != nil {
		return nil, m.Explain("list the sources", err)
	}
	m.done = planned(m.plan)
	for _, part := range [][]result{m.done.agents, m.done.tools, m.done.sources} {
		for i := range part {
			part[i].outcome = notTried
		}
	}
	for i, tool := range m.plan.Tools {
		if ctx.Err() == nil {
			m.done.tools[i] = m.tool(ctx, tool, catalog)
		}
	}
	for i, agent := range m.plan.Agents {
		if ctx.Err() == nil {
			m.done.agents[i] = m.agent(ctx, agent)
		}
	}
	for i, source := range m.plan.Sources {
		if ctx.Err() == nil {
			m.done.sources[i] = m.source(ctx, source, list)
		}
	}
	for i, agent := range m.plan.Agents {
		if result := m.done.agents[i]; ctx.Err() == nil && (result.outcome == made || result.outcome == there) {
			m.attach(ctx, agent, result.id)
		}
	}
	return m.done, ctx.Err()
}

// catalog lists the custom tools of the workspace.
func (m *maker) catalog(ctx context.Context) ([]*parlancev1.Tool, error) {
	return command.All(func(token string) ([]*parlancev1.Tool, string, error) {
		page, err := m.tools.ListTools(ctx, &parlancev1.ListToolsRequest{
			WorkspaceId: m.WorkspaceID, PageSize: client.PageSize, PageToken: token,
		})
		if err != nil {
			return nil, "", m.Explain("list the tools", err)
		}
		return page.GetTools(), page.GetNextPageToken(), nil
	})
}

// tool makes a tool, or gives one that is there the secrets of --secret.
func (m *maker) tool(ctx context.Context, tool *exports.Tool, catalog []*parlancev1.Tool) result {
	at := slices.IndexFunc(catalog, func(have *parlancev1.Tool) bool {
		return have.GetBucket() == "custom" && strings.EqualFold(have.GetSlug(), tool.Want.GetSlug())
	})
	if at < 0 {
		tool.Want.WorkspaceId = m.WorkspaceID
		created, err := m.tools.CreateTool(ctx, tool.Want)
		if err != nil {
			return result{outcome: failed, why: m.Reason(err)}
		}
		return result{outcome: made, id: created.GetId()}
	}
	have := catalog[at]
	tool.Secrets = slices.DeleteFunc(tool.Secrets, func(name string) bool {
		return name == "Authorization" && have.GetAuthHeaderSet() || slices.Contains(have.GetSecretHeaderNames(), name)
	})
	if different := toolDifference(have, tool.Want); different != "" {
		return result{outcome: differs, id: have.GetId(), why: different + "; --prefix gives the new ones other names"}
	}
	if len(m.secrets[strings.ToLower(tool.Want.GetSlug())]) == 0 {
		return result{outcome: there, id: have.GetId()}
	}
	return m.setSecrets(ctx, tool, have)
}

// toolDifference says in which field a tool is another one than is wanted.
func toolDifference(have *parlancev1.Tool, want *parlancev1.CreateToolRequest) string {
	switch {
	case have.GetKind() != want.GetKind():
		return "its kind is " + have.GetKind()
	case have.GetWebhookUrl() != want.GetWebhookUrl(), have.GetMcpServerUrl() != want.GetMcpServerUrl():
		return "it has another address"
	case want.GetMethod() != "" && have.GetMethod() != want.GetMethod():
		return "its method is " + have.GetMethod()
	}
	return ""
}

// setSecrets sets headers of a tool that is there. Secret headers are replaced as a whole, so all
// of them must be known.
func (m *maker) setSecrets(ctx context.Context, tool *exports.Tool, have *parlancev1.Tool) result {
	req := &parlancev1.UpdateToolRequest{WorkspaceId: m.WorkspaceID, ToolId: have.GetId(), UpdateMask: &fieldmaskpb.FieldMask{}}
	given := m.secrets[strings.ToLower(tool.Want.GetSlug())]
	if auth, ok := given["Authorization"]; ok {
		req.AuthHeader = &auth
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "auth_header")
	}
	if _, onlyAuth := given["Authorization"]; len(given) > 1 || !onlyAuth {
		known := slices.Collect(maps.Keys(tool.Want.GetSecretHeaders()))
		for _, name := range have.GetSecretHeaderNames() {
			if !slices.Contains(known, name) {
				return result{outcome: failed, id: have.GetId(), why: "its secret headers are replaced together: give " + name + " too"}
			}
		}
		req.SecretHeaders = tool.Want.GetSecretHeaders()
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "secret_headers")
	}
	if _, err := m.tools.UpdateTool(ctx, req); err != nil {
		return result{outcome: failed, id: have.GetId(), why: m.Reason(err)}
	}
	return result{outcome: updated, id: have.GetId()}
}

// agent makes an agent unless one of its name is there.
func (m *maker) agent(ctx context.Context, agent *exports.Agent) result {
	list, err := command.All(func(token string) ([]*parlancev1.Agent, string, error) {
		page, err := m.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{
			WorkspaceId: m.WorkspaceID, Q: agent.Want.GetName(), PageSize: client.PageSize, PageToken: token,
		})
		return page.GetAgents(), page.GetNextPageToken(), err
	})
	if err != nil {
		return result{outcome: failed, why: m.Reason(err)}
	}
	for _, have := range list {
		switch {
		case have.GetName() != agent.Want.GetName():
		case have.GetInstructions() != agent.Want.GetInstructions(), have.GetFirstMessage() != agent.Want.GetFirstMessage():
			return result{outcome: differs, id: have.GetId(), why: "its instructions or first message are others, so it is left alone; " +
				"--name gives the new one another name"}
		default:
			return result{outcome: there, id: have.GetId()}
		}
	}
	agent.Want.WorkspaceId = m.WorkspaceID
	created, err := m.Agents.CreateAgent(ctx, agent.Want)
	if err != nil {
		return result{outcome: failed, why: m.Reason(err)}
	}
	return result{outcome: made, id: created.GetId()}
}

// source makes a source unless one of its address or name is there, and waits until it is read.
func (m *maker) source(ctx context.Context, source *exports.Source, list []*parlancev1.Source) result {
	have := slices.IndexFunc(list, func(have *parlancev1.Source) bool {
		if source.URL != "" {
			return have.GetUrl() == source.URL
		}
		return have.GetName() == source.Name
	})
	if have >= 0 {
		return m.await(ctx, list[have].GetId(), there)
	}
	if source.URL == "" {
		return m.text(ctx, source)
	}
	created, err := m.knowledge.CreateUrlSource(ctx, &parlancev1.CreateUrlSourceRequest{
		WorkspaceId: m.WorkspaceID, Url: source.URL, Name: source.Name, RefreshEvery: source.RefreshEvery,
	})
	if err != nil {
		return result{outcome: failed, why: m.Reason(err)}
	}
	return m.await(ctx, created.GetId(), made)
}

// text uploads a text as a file.
func (m *maker) text(ctx context.Context, source *exports.Source) result {
	dir, err := os.MkdirTemp("", "parlance-import-")
	if err != nil {
		return result{outcome: failed, why: err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system clears temporary folders
	path := filepath.Join(dir, "text")
	if err := os.WriteFile(path, []byte(source.Text), 0o600); err != nil {
		return result{outcome: failed, why: err.Error()}
	}
	states, err := intake.Run(ctx, intake.Deps{
		Caller: m.Caller, Knowledge: m.knowledge, UserAgent: m.userAgent, Changed: func(int, intake.State) {},
	}, intake.Params{Parallel: 1, NoWait: true}, []intake.Item{{
		Given: source.Name, Name: source.Name, Path: path, MediaType: source.MediaType, SizeBytes: int64(len(source.Text)),
	}})
	switch {
	case err != nil:
		return result{outcome: failed, why: m.Reason(err)}
	case states[0].Source == nil:
		return result{outcome: failed, why: fmt.Sprint(states[0].Err)}
	}
	return m.await(ctx, states[0].Source.GetId(), made)
}

// await waits until a source is ready.
func (m *maker) await(ctx context.Context, id string, ready outcome) result {
	if m.noWait {
		return result{outcome: beingRead, id: id}
	}
	ended, err := intake.Watch(ctx, m.knowledge, m.WorkspaceID, id, func(*parlancev1.Source) {})
	if err != nil {
		return result{outcome: beingRead, id: id, why: m.Reason(err)}
	}
	if ended.GetStatus() == "failed" {
		why := ended.GetFetchError()
		if why == "" {
			why = ended.GetError().GetMessage()
		}
		return result{outcome: failed, id: id, why: why + " (parlance kb show " + id + ")"}
	}
	return result{outcome: ready, id: id}
}

// attach lets an agent use its tools and sources. Those that are not what the export means are
// left alone.
func (m *maker) attach(ctx context.Context, agent *exports.Agent, id string) {
	enabled := true
	for i, tool := range m.plan.Tools {
		done := &m.done.tools[i]
		if !slices.Contains(agent.Tools, tool) || done.outcome != made && done.outcome != there && done.outcome != updated {
			continue
		}
		_, err := m.tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
			WorkspaceId: m.WorkspaceID, AgentId: id, ToolId: done.id, Enabled: &enabled,
		})
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
		_, err := m.knowledge.AttachSources(ctx, &parlancev1.AttachSourcesRequest{
			WorkspaceId: m.WorkspaceID, AgentId: id, SourceIds: []string{done.id}, UsageMode: mode,
		})
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
