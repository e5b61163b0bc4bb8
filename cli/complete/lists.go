package complete

import (
	"cmp"
	"context"

	"parlance.dev/parlance/cli/client"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// item is something that a command can be about. name tells a person which one it is.
type item struct{ id, name string }

// list returns the first page of what the API lists.
type list func(ctx context.Context, c *client.Caller) ([]item, error)

// lists are the words in the Use of commands that stand for an id.
var lists = map[string]list{
	"AGENT": agents, "WORKSPACE": workspaces, "TOOL": tools, "SOURCE": sources, "SESSION": sessions, "ENDPOINT": endpoints, "KEY": keys,
}

// items makes the items of a page, or of the nothing that comes with an error.
func items[T any](page []T, err error, of func(T) item) ([]item, error) {
	all := make([]item, len(page))
	for i, one := range page {
		all[i] = of(one)
	}
	return all, err
}

func agents(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := c.Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetAgents(), err, func(a *parlancev1.Agent) item { return item{a.GetId(), a.GetName()} })
}

func workspaces(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewWorkspaceServiceClient(c.HTTP, c.Base, c.Options()...).
		ListWorkspaces(ctx, &parlancev1.ListWorkspacesRequest{PageSize: client.PageSize})
	return items(page.GetWorkspaces(), err, func(w *parlancev1.Workspace) item { return item{w.GetId(), w.GetName()} })
}

func tools(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewToolServiceClient(c.HTTP, c.Base, c.Options()...).
		ListTools(ctx, &parlancev1.ListToolsRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetTools(), err, func(t *parlancev1.Tool) item { return item{t.GetId(), t.GetSlug()} })
}

func sources(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewKnowledgeServiceClient(c.HTTP, c.Base, c.Options()...).
		ListSources(ctx, &parlancev1.ListSourcesRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetSources(), err, func(s *parlancev1.Source) item { return item{s.GetId(), s.GetName()} })
}

func sessions(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewSessionServiceClient(c.HTTP, c.Base, c.Options()...).
		ListSessions(ctx, &parlancev1.ListSessionsRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetSessions(), err, func(s *parlancev1.Session) item {
		return item{s.GetId(), cmp.Or(s.GetUserId(), "no user") + ", " + s.GetStatus() + ", " + client.Moment(s.GetCreatedAt())}
	})
}

func endpoints(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewWebhookServiceClient(c.HTTP, c.Base, c.Options()...).
		ListWebhookEndpoints(ctx, &parlancev1.ListWebhookEndpointsRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetEndpoints(), err, func(e *parlancev1.WebhookEndpoint) item { return item{e.GetId(), e.GetUrl()} })
}

func keys(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewApiKeyServiceClient(c.HTTP, c.Base, c.Options()...).
		ListApiKeys(ctx, &parlancev1.ListApiKeysRequest{PageSize: client.PageSize})
	return items(page.GetApiKeys(), err, func(k *parlancev1.ApiKey) item { return item{k.GetId(), k.GetName() + " (" + k.GetScope() + ")"} })
}
