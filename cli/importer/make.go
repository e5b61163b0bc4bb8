package importer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	toMake    outcome = "to be made, if the service accepts it"
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
	// secretHeaders are those that a tool has.
	secretHeaders []string
	// attached are the names of the agents that a tool or source was attached to.
	attached []string
	// missed are those that it was not attached to, and why.
	missed []string
}

// results are those of a plan, each in the order of the plan.
type results struct {
	agents, tools, sources []result
}

// planned are the results of a dry run.
func planned(plan *exports.Plan) *results {
	all := func(n int) []result { return slices.Repeat([]result{{outcome: toMake}}, n) }
	done := &results{agents: all(len(plan.Agents)), tools: all(len(plan.Tools)), sources: all(len(plan.Sources))}
	for i, agent := range plan.Agents {
		if agent.Obstacle != "" {
			done.agents[i] = incomplete(agent)
		}
	}
	return done
}

// maker makes what a plan says.
type maker struct {
	client.Caller
	tools     parlancev1connect.ToolServiceClient
	knowledge parlancev1connect.KnowledgeServiceClient
	plan      *exports.Plan
	secrets   secrets
	// given are the headers of secrets that each tool got.
	given     map[*exports.Tool]map[string]string
	userAgent string
	// prefix is that of --prefix.
	prefix string
	noWait bool
	// keepSpeech keeps providers of speech that the workspace has no credential for.
	keepSpeech  bool
	credentials parlancev1connect.ProviderCredentialServiceClient
	done        *results
	// catalog are the custom tools of the workspace by their names in small letters.
	catalog map[string]*parlancev1.Tool
	// known is what there is of each agent of the plan, and have what there is of each tool.
	known []known
	have  []*parlancev1.Tool
}

// run makes what is not there yet. A part that cannot be made does not stop the others. It
// returns nil results when nothing was begun.
func (m *maker) run(ctx context.Context) (*results, error) {
	if err := m.readCatalog(ctx); err != nil {
		return nil, err
	}
	list, err := command.All(intake.SourcePages(ctx, m.knowledge, &parlancev1.ListSourcesRequest{WorkspaceId: m.WorkspaceID}))
	if err != nil {
		return nil, m.Explain("list the sources", err)
	}
	agents, err := m.lookUp(ctx)
	if err != nil {
		return nil, err
	}
	m.matchAgents(agents)
	m.matchTools()
	if m.given, err = m.secrets.fill(m.plan); err != nil {
		return nil, err
	}
	m.done = planned(m.plan)
	for _, part := range [][]result{m.done.agents, m.done.tools, m.done.sources} {
		for i := range part {
			part[i].outcome = notTried
		}
	}
	m.leaveSpeech(ctx)
	for i := range m.plan.Tools {
		if ctx.Err() == nil {
			m.done.tools[i] = m.tool(ctx, i)
		}
	}
	for i, agent := range m.plan.Agents {
		if ctx.Err() == nil {
			m.done.agents[i] = m.agent(ctx, agent, m.known[i])
		}
	}
	for i, source := range m.plan.Sources {
		if ctx.Err() == nil {
			m.done.sources[i] = m.source(ctx, source, list)
		}
	}
	for i, agent := range m.plan.Agents {
		if result := m.done.agents[i]; ctx.Err() == nil && slices.Contains([]outcome{made, there, differs}, result.outcome) {
			m.attach(ctx, agent, result, m.known[i])
		}
	}
	for _, part := range [][]result{m.done.tools, m.done.sources} {
		for i := range part {
			part[i].judge()
		}
	}
	return m.done, ctx.Err()
}

// agent makes an agent unless one of its name is there.
func (m *maker) agent(ctx context.Context, agent *exports.Agent, found known) result {
	switch have := found.agent; {
	case have != nil && found.differs != "":
		return result{outcome: differs, id: have.GetId(), why: found.differs}
	case have != nil:
		return result{outcome: there, id: have.GetId()}
	case agent.Obstacle != "":
		return incomplete(agent)
	}
	agent.Want.WorkspaceId = m.WorkspaceID
	created, err := m.Agents.CreateAgent(ctx, agent.Want)
	if err != nil {
		return result{outcome: failed, why: m.Reason(err)}
	}
	return result{outcome: made, id: created.GetId()}
}

// incomplete is the result of an agent that cannot be made from what was given.
func incomplete(agent *exports.Agent) result {
	return result{outcome: failed, why: "not made, because " + agent.Obstacle}
}

// source makes a source unless one of its address or name is there, and waits until it is read.
func (m *maker) source(ctx context.Context, source *exports.Source, list []*parlancev1.Source) result {
	have := slices.IndexFunc(list, func(have *parlancev1.Source) bool {
		if source.URL != "" {
			return have.GetUrl() == source.URL
		}
		return have.GetName() == source.Name
	})
	if have >= 0 && list[have].GetStatus() == "ready" {
		return result{outcome: there, id: list[have].GetId()}
	}
	if have >= 0 {
		return m.await(ctx, list[have].GetId(), there)
	}
	if m.isLeftAlone(func(agent *exports.Agent) bool { return slices.Contains(agent.Sources, source) }) {
		return result{outcome: failed, why: leftAlone}
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
