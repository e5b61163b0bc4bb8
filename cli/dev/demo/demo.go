package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// Names of the demo's objects.
const (
	TenantName = "Parlance demo"
	AgentName  = "Ada"
	ToolSlug   = "order_status"
)

const firstMessage = "Hello, I am Ada. Ask me how Parlance works, or where order A-1001 is."

const instructions = `You are Ada, a friendly and precise guide to Parlance, a self-hosted service that runs
conversational agents for voice and text.

Answer questions about Parlance from the passages you are given, in a few short sentences, and name
the document you took the answer from. When the passages do not hold the answer, say so and suggest
what to ask instead; never make one up.

When somebody asks about an order, call order_status with the order's number (it looks like A-1001)
and tell them what came back.`

// Deps are the services in which the demo is made.
type Deps struct {
	Workspaces *workspaces.Service
	Agents     *agents.Service
	Tools      *tools.Service
	Knowledge  *knowledge.Service
}

// Params are what an earlier run made, and the address of the tool's endpoint.
type Params struct {
	// APIKey, WorkspaceID and AgentID may be empty or outdated; Seed then finds or makes new ones.
	APIKey      seal.Secret
	WorkspaceID string
	AgentID     string
	// EndpointURL is where Endpoint is served, without a trailing slash. If it is empty there is no
	// tool.
	EndpointURL string
}

// Installation is the result of Seed.
type Installation struct {
	Ref     workspaces.Ref
	APIKey  seal.Secret
	AgentID agents.ID
	Sources []knowledge.SourceID
}

// Seed makes what is missing. The sources are queued and not yet ready: see AttachWhenReady.
func Seed(ctx context.Context, d Deps, p Params) (Installation, error) {
	made, err := d.tenancy(ctx, p)
	if err != nil {
		return made, fmt.Errorf("seed the tenant: %w", err)
	}
	if made.AgentID, err = d.agent(ctx, made.Ref, agents.ID(p.AgentID)); err != nil {
		return made, fmt.Errorf("seed the agent: %w", err)
	}
	if p.EndpointURL != "" {
		if err := d.tool(ctx, made, p.EndpointURL); err != nil {
			return made, fmt.Errorf("seed the tool: %w", err)
		}
	}
	if made.Sources, err = d.sources(ctx, made.Ref); err != nil {
		return made, fmt.Errorf("seed the knowledge base: %w", err)
	}
	return made, nil
}

// tenancy finds the tenant by the key, else by name and then makes a new key. If there is none it
// makes the tenant.
func (d Deps) tenancy(ctx context.Context, p Params) (Installation, error) {
	if p.APIKey.IsSet() {
		ref, err := d.known(ctx, p)
		if err == nil {
			return Installation{Ref: ref, APIKey: p.APIKey}, nil
		}
		if !refused(err) {
			return Installation{}, err
		}
	}
	tenant, err := d.tenantNamed(ctx, TenantName)
	if err != nil {
		return Installation{}, err
	}
	if tenant == "" {
		made, err := d.Workspaces.CreateTenant(ctx, TenantName, largestPlan(d.Workspaces.Plans()))
		return Installation{Ref: workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}, APIKey: made.Key.Secret}, err
	}
	return d.newKey(ctx, tenant)
}

// known returns the workspace of an earlier run if its key is still valid.
func (d Deps) known(ctx context.Context, p Params) (workspaces.Ref, error) {
	principal, err := d.Workspaces.Authenticate(ctx, p.APIKey.Reveal())
	if err != nil {
		return workspaces.Ref{}, err
	}
	return d.Workspaces.Resolve(ctx, principal, p.WorkspaceID)
}

// refused reports whether an error says that something is missing, not that something is broken.
func refused(err error) bool {
	decided, ok := errors.AsType[*fault.Error](err)
	return ok && (decided.Kind() == fault.Unauthenticated || decided.Kind() == fault.NotFound)
}

func (d Deps) tenantNamed(ctx context.Context, name string) (workspaces.TenantID, error) {
	tenants, err := command.All(func(token string) ([]workspaces.Tenant, string, error) {
		return d.Workspaces.Tenants(ctx, postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
	})
	at := slices.IndexFunc(tenants, func(tenant workspaces.Tenant) bool { return tenant.Name == name })
	if at < 0 {
		return "", err
	}
	return tenants[at].ID, err
}

// newKey makes a key for a tenant whose key was lost.
func (d Deps) newKey(ctx context.Context, tenant workspaces.TenantID) (Installation, error) {
	admin := workspaces.Principal{TenantID: tenant, Scope: workspaces.ScopeAdmin}
	list, _, err := d.Workspaces.ListWorkspaces(ctx, admin, postgres.PageParams{Size: 1})
	if err != nil {
		return Installation{}, err
	}
	if len(list) == 0 {
		made, err := d.Workspaces.CreateWorkspace(ctx, admin, "default")
		if err != nil {
			return Installation{}, err
		}
		list = append(list, made)
	}
	key, err := d.Workspaces.CreateKey(ctx, admin, workspaces.CreateKeyParams{Name: "parlance dev", Scope: workspaces.ScopeAdmin.String()})
	return Installation{Ref: workspaces.Ref{TenantID: tenant, ID: list[0].ID}, APIKey: key.Secret}, err
}

// agent finds the agent by id, else by name, else makes it.
func (d Deps) agent(ctx context.Context, ref workspaces.Ref, id agents.ID) (agents.ID, error) {
	if id != "" {
		found, err := d.Agents.Get(ctx, ref, id)
		if err == nil || !refused(err) {
			return found.ID, err
		}
	}
	list, err := command.All(func(token string) ([]agents.Agent, string, error) {
		return d.Agents.List(ctx, ref, postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
	})
	if err != nil {
		return "", err
	}
	if at := slices.IndexFunc(list, func(agent agents.Agent) bool { return agent.Name == AgentName }); at >= 0 {
		return list[at].ID, nil
	}
	made, err := d.Agents.Create(ctx, ref, AgentName, agents.Config{
		Instructions: instructions, FirstMessage: firstMessage, Language: "en", Memory: agents.Memory{Enabled: true},
	})
	return made.ID, err
}

// tool makes the tool or updates its URL, and attaches it.
func (d Deps) tool(ctx context.Context, made Installation, endpointURL string) error {
	url := endpointURL + "/orders/{order_id}"
	tool, found, err := d.toolNamed(ctx, made.Ref, ToolSlug)
	switch {
	case err != nil:
		return err
	case !found:
		tool, err = d.Tools.Create(ctx, made.Ref, tools.CreateParams{
			Slug: ToolSlug, Description: "Looks up where an order is and when it will arrive. Call it whenever somebody asks about an order.",
			Kind: tools.KindHTTP, Config: tools.Config{
				WebhookURL: url, Method: "GET", PathParams: []string{"order_id"}, InputSchema: json.RawMessage(orderSchema),
			},
		})
	case tool.Config.WebhookURL != url:
		tool, err = d.Tools.Update(ctx, made.Ref, tool.ID, tools.UpdateParams{Apply: func(c *tools.Config) { c.WebhookURL = url }})
	}
	if err != nil {
		return err
	}
	registry, err := d.Tools.ListAgentTools(ctx, made.Ref, made.AgentID)
	if err != nil {
		return err
	}
	if _, attached := registry.Find(ToolSlug); attached {
		return nil
	}
	_, err = d.Tools.Attach(ctx, made.Ref, tools.AttachParams{AgentID: made.AgentID, ToolID: tool.ID, Enabled: true})
	return err
}

func (d Deps) toolNamed(ctx context.Context, ref workspaces.Ref, slug string) (tools.Tool, bool, error) {
	list, err := command.All(func(token string) ([]tools.Tool, string, error) {
		return d.Tools.List(ctx, ref, tools.ListParams{PageParams: postgres.PageParams{Size: postgres.MaxPageSize, Token: token}})
	})
	at := slices.IndexFunc(list, func(tool tools.Tool) bool { return tool.Slug == slug })
	if at < 0 {
		return tools.Tool{}, false, err
	}
	return list[at], true, err
}

// largestPlan is enterprise, or what stores most where there is none.
func largestPlan(plans workspaces.Plans) string {
	largest := "enterprise"
	for _, name := range plans.Names() {
		if _, there := plans[largest]; !there || largest != "enterprise" && plans[name].KBStorageBytes > plans[largest].KBStorageBytes {
			largest = name
		}
	}
	return largest
}
