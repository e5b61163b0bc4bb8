package tools

import (
	"context"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// CreateParams is a new custom tool. Empty fields of Config take their defaults.
type CreateParams struct {
	Slug        string
	Description string
	Kind        Kind
	Config      Config
	// AuthHeader is the value of the Authorization header. Empty for none.
	AuthHeader seal.Secret
	// SecretHeaders are other headers that are not shown.
	SecretHeaders map[string]seal.Secret
}

// Create registers a custom tool in the workspace.
// Errors: AlreadyExists tool-name-reserved and tool-slug-taken, Forbidden
// plan-tools-not-enabled and plan-mcp-not-enabled, Invalid invalid-request.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (Tool, error) {
	now := s.timestamp()
	tool := Tool{
		ID: ID(idgen.UUIDIn(ctx)), TenantID: ref.TenantID, WorkspaceID: ref.ID, Slug: p.Slug, Description: p.Description,
		Kind: p.Kind, Config: p.Config, CreatedAt: now, UpdatedAt: now, Bucket: BucketCustom,
	}.withDefaults()
	if isReserved(p.Slug) {
		return Tool{}, fault.OnField(fault.ToolNameReserved, "slug",
			"%q is, or looks like, the name of a built-in or system tool; choose another slug.", p.Slug)
	}
	given := secrets{authHeader: &p.AuthHeader, headers: &p.SecretHeaders}
	if err := s.checker.check(tool, given, Config{}); err != nil {
		return Tool{}, err
	}
	if err := s.checkPlan(ctx, ref, p.Kind); err != nil {
		return Tool{}, err
	}
	sealed, err := s.seal(ctx, tool, given)
	if err != nil {
		return Tool{}, err
	}
	tool.take(given, sealed)
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error { return insertTool(ctx, tx, tool) })
	if err != nil {
		if made, findErr := selectTool(ctx, s.db, ref, tool.ID, noLock); findErr == nil { // a repeated request: see idgen.In
			return made, nil
		}
	}
	if postgres.IsUnique(err, "tools_slug") {
		return Tool{}, fault.OnField(fault.ToolSlugTaken, "slug",
			"The workspace has a tool with the slug %q (upper and lower case are the same).", p.Slug)
	}
	return tool, err
}

// Get returns a tool of the catalog, also a built-in or system tool. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Tool, error) {
	if tool, ok := builtinByID(id); ok {
		return tool, nil
	}
	return selectTool(ctx, s.db, ref, id, noLock)
}

// ListParams is a page of the catalog.
type ListParams struct {
	postgres.PageParams
	// IncludeHidden lists the memory-managed built-ins too.
	IncludeHidden bool
}

// List lists the catalog: system tools, built-in tools, then custom tools, newest first. A Query
// narrows it by slug and description. In another order by time the built-ins, which have no times,
// stay in their place at the beginning; in the order of names they are among the custom tools.
// Errors: Invalid invalid-request (page_size, order_by, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Tool, string, error) {
	p.Order = postgres.NewestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), map[bool]string{true: "hidden"}[p.IncludeHidden]}
	page, err := postgres.NewPage(p.PageParams)
	if err != nil {
		return nil, "", err
	}
	list := catalogBuiltins(p)
	if page.ByName() {
		return s.listByName(ctx, ref, page, p.Query, list)
	}
	list, page.After = afterBuiltins(list, page.After)
	if room := page.Limit() - len(list); room > 0 {
		custom, err := listTools(ctx, s.db, ref, page, p.Query, room)
		if err != nil {
			return nil, "", err
		}
		list = append(list, custom...)
	}
	list, next := postgres.Cut(page, list, catalogKey)
	return list, next, nil
}

// listByName is List in the order of names.
func (s *Service) listByName(
	ctx context.Context, ref workspaces.Ref, page postgres.Page, query string, list []Tool,
) ([]Tool, string, error) {
	if page.After != nil {
		list = slices.DeleteFunc(list, func(t Tool) bool { return page.CompareNames(catalogKey(t), *page.After) <= 0 })
	}
	custom, err := listTools(ctx, s.db, ref, page, query, page.Limit())
	if err != nil {
		return nil, "", err
	}
	list = append(list, custom...)
	slices.SortFunc(list, func(a, b Tool) int { return page.CompareNames(catalogKey(a), catalogKey(b)) })
	list, next := postgres.Cut(page, list, catalogKey)
	return list, next, nil
}

// catalogBuiltins lists the system and built-in tools that p asks for, in the order of the catalog.
func catalogBuiltins(p ListParams) []Tool {
	list := builtinTools(BucketSystem)
	if p.IncludeHidden {
		list = append(list, builtinTools(BucketMemory)...)
	}
	list = append(list, builtinTools(BucketOptIn)...)
	text := strings.ToLower(p.Query)
	return slices.DeleteFunc(list, func(t Tool) bool {
		return !strings.Contains(t.Slug, text) && !strings.Contains(strings.ToLower(t.Description), text)
	})
}

// catalogKey is the position of a tool in the catalog. A built-in has no times.
func catalogKey(t Tool) postgres.Key {
	return postgres.Key{CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Name: t.Slug, ID: string(t.ID)}
}

// afterBuiltins leaves out the built-ins up to the last row of the previous page. If that row is a
// built-in, the custom tools begin at their start.
func afterBuiltins(list []Tool, after *postgres.Key) ([]Tool, *postgres.Key) {
	if after == nil {
		return list, nil
	}
	for i, tool := range list {
		if string(tool.ID) == after.ID {
			return list[i+1:], nil
		}
	}
	return nil, after
}

// UpdateParams changes a custom tool. nil keeps a field, a pointer to a zero value resets it.
type UpdateParams struct {
	Description *string
	// Apply changes the configuration in place. It may be called more than once. nil keeps it.
	Apply      func(*Config)
	AuthHeader *seal.Secret
	// SecretHeaders replaces all of them.
	SecretHeaders *map[string]seal.Secret
}

// Update changes a custom tool. Concurrent updates are made one after the other. A URL on another
// server needs the AuthHeader and the SecretHeaders again, or empty ones.
// Errors: NotFound, Invalid invalid-request (also for a built-in or system tool), Forbidden
// plan-tools-not-enabled and plan-mcp-not-enabled.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id ID, p UpdateParams) (Tool, error) {
	if err := onlyCustom(id, "changed"); err != nil {
		return Tool{}, err
	}
	tool, err := selectTool(ctx, s.db, ref, id, noLock)
	if err != nil {
		return Tool{}, err
	}
	if err := s.checkPlan(ctx, ref, tool.Kind); err != nil {
		return Tool{}, err
	}
	given := secrets{authHeader: p.AuthHeader, headers: p.SecretHeaders}
	sealed, err := s.seal(ctx, tool, given) // before the transaction: sealing may read the database
	if err != nil {
		return Tool{}, err
	}
	now := s.timestamp()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if tool, err = selectTool(ctx, tx, ref, id, lockForUpdate); err != nil {
			return err
		}
		stored := tool
		tool.take(given, sealed)
		if err := s.apply(&tool, p, given); err != nil {
			return err
		}
		if err := tool.checkMove(stored); err != nil {
			return err
		}
		tool.UpdatedAt = now
		return updateTool(ctx, tx, tool)
	})
	return tool, err
}

// apply changes a tool and checks the result.
func (s *Service) apply(tool *Tool, p UpdateParams, given secrets) error {
	stored := tool.Config
	if p.Description != nil {
		tool.Description = *p.Description
	}
	if p.Apply != nil {
		p.Apply(&tool.Config)
	}
	*tool = tool.withDefaults()
	return s.checker.check(*tool, given, stored)
}

// onlyCustom refuses built-in and system tools.
func onlyCustom(id ID, verb string) error {
	if tool, ok := builtinByID(id); ok {
		return fault.InvalidField("tool_id", "not_custom", "%s is a %s tool and cannot be %s.", id, tool.Bucket, verb)
	}
	return nil
}

// Delete removes a custom tool and detaches it from all agents. Its traces stay. Repeating it is
// not an error. Errors: NotFound, Invalid invalid-request for a built-in or system tool.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id ID) error {
	if err := onlyCustom(id, "deleted"); err != nil {
		return err
	}
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteTool(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
		}
		return s.workspaces.Gone(ctx, tx, ref.TenantID, "tool", string(id))
	})
}
