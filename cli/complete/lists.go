package complete

import (
	"cmp"
	"context"
	"strings"

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
	"PHONE": numbers, "CALLBACK": callbacks, "SCHEDULE": schedules, "BATCH": batches, "CALL": calls,
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

func numbers(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewTelephonyServiceClient(c.HTTP, c.Base, c.Options()...).
		ListPhoneNumbers(ctx, &parlancev1.ListPhoneNumbersRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetPhoneNumbers(), err, func(n *parlancev1.PhoneNumber) item {
		return item{n.GetId(), strings.TrimSpace(n.GetPhoneNumber() + " " + n.GetName())}
	})
}

func keys(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewApiKeyServiceClient(c.HTTP, c.Base, c.Options()...).
		ListApiKeys(ctx, &parlancev1.ListApiKeysRequest{PageSize: client.PageSize})
	return items(page.GetApiKeys(), err, func(k *parlancev1.ApiKey) item { return item{k.GetId(), k.GetName() + " (" + k.GetScope() + ")"} })
}

func callbacks(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewCallbackServiceClient(c.HTTP, c.Base, c.Options()...).
		ListCallbacks(ctx, &parlancev1.ListCallbacksRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetCallbacks(), err, func(b *parlancev1.Callback) item {
		return item{b.GetId(), b.GetPhoneNumber() + ", " + b.GetStatus() + ", " + client.Moment(b.GetAt())}
	})
}

func schedules(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewCallbackServiceClient(c.HTTP, c.Base, c.Options()...).
		ListCallbackSchedules(ctx, &parlancev1.ListCallbackSchedulesRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetSchedules(), err, func(s *parlancev1.CallbackSchedule) item {
		return item{s.GetId(), s.GetPhoneNumber() + ", " + s.GetCron()}
	})
}

func batches(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewCallbackServiceClient(c.HTTP, c.Base, c.Options()...).
		ListCallbackBatches(ctx, &parlancev1.ListCallbackBatchesRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetBatches(), err, func(b *parlancev1.CallbackBatch) item { return item{b.GetId(), b.GetName() + ", " + b.GetStatus()} })
}

func calls(ctx context.Context, c *client.Caller) ([]item, error) {
	page, err := parlancev1connect.NewTelephonyServiceClient(c.HTTP, c.Base, c.Options()...).
		ListCalls(ctx, &parlancev1.ListCallsRequest{WorkspaceId: c.WorkspaceID, PageSize: client.PageSize})
	return items(page.GetCalls(), err, func(p *parlancev1.PhoneCall) item {
		return item{p.GetId(), p.GetFrom() + " → " + p.GetTo() + ", " + p.GetStatus() + ", " + client.Moment(p.GetCreatedAt())}
	})
}
