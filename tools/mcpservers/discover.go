package mcpservers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/workspaces"
)

// parallel is how many servers of an agent are asked at the same time.
const parallel = 8

// Found is the list of tools of a server, or why it is not known.
type Found struct {
	// Tools are in the order of the server. Not nil unless Reason is set.
	Tools  []Tool
	Reason Reason
	// Detail describes the reason to an operator.
	Detail string
}

// DiscoverAll finds the tools of several servers concurrently. The result is by tool id.
func (s *Service) DiscoverAll(ctx context.Context, ref workspaces.Ref, q Query, list []Server) (map[string]Found, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // an empty list
	}
	kept := map[string]string{}
	if q.SessionID != "" {
		var err error
		if kept, err = sessionCatalogs(ctx, s.db, ref, q.SessionID); err != nil {
			return nil, err
		}
	}
	found := make([]Found, len(list))
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel) // a semaphore
	for i, server := range list {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = s.discover(ctx, q, server, kept[server.ToolID])
		})
	}
	all.Wait()
	out := map[string]Found{}
	for i, server := range list {
		out[server.ToolID] = found[i]
	}
	return out, ctx.Err()
}

// Discover finds the tools of one server for nobody in particular.
func (s *Service) Discover(ctx context.Context, q Query, server Server) Found {
	return s.discover(ctx, q, server, "")
}

// discover finds the list of one server: the one that the session keeps, a fresh one, or an older
// one.
func (s *Service) discover(ctx context.Context, q Query, server Server, kept string) Found {
	if kept != "" {
		if tools, err := s.catalog(ctx, server, kept); err == nil && tools != nil {
			return Found{Tools: tools}
		}
	}
	headers, err := server.OpenSecretHeaders(ctx)
	if err != nil {
		return s.unknown(ctx, server, err)
	}
	e, problem := server.Endpoint(headers)
	if problem != nil {
		return Found{Reason: Unreachable, Detail: problem.Message}
	}
	digest, fresh, err := s.newest(ctx, server, e)
	if err != nil {
		return s.unknown(ctx, server, err)
	}
	if !fresh || q.Refresh {
		fetched := s.fetch(ctx, q, server, e)
		if fetched.err == nil {
			digest = fetched.digest
		} else if digest == "" || q.Refresh {
			return Found{Reason: Unreachable, Detail: fetched.err.Error()}
		}
	}
	if q.SessionID != "" {
		digest, err = keepCatalog(ctx, s.db, sessionCatalog{
			SessionID: q.SessionID, ToolID: server.ToolID, TenantID: server.Ref.TenantID, WorkspaceID: server.Ref.ID,
			Digest: digest, CreatedAt: s.timestamp(),
		})
		if err != nil {
			return s.unknown(ctx, server, err)
		}
	}
	tools, err := s.catalog(ctx, server, digest)
	if err == nil && tools == nil {
		err = errors.New("its list of tools is gone")
	}
	if err != nil {
		return s.unknown(ctx, server, err)
	}
	return Found{Tools: tools}
}

// unknown logs a fault of this service. The tools of the server are left out.
func (s *Service) unknown(ctx context.Context, server Server, err error) Found {
	if ctx.Err() == nil {
		s.log.ErrorContext(ctx, "mcp: tools of a server left out", slog.String("tool_id", server.ToolID), slog.Any("error", err))
	}
	return Found{Reason: Unreachable, Detail: "its list of tools could not be read"}
}

// catalog is the list of a digest, made usable for models. It is nil when there is none.
func (s *Service) catalog(ctx context.Context, server Server, digest string) ([]Tool, error) {
	key := server.ToolID + " " + digest
	if tools, ok := s.catalogs.Get(key); ok {
		return tools, nil
	}
	raw, err := selectCatalog(ctx, s.db, server, digest)
	if err != nil || raw == nil {
		return nil, err
	}
	var list []mcp.Tool
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode list of tools: %w", err)
	}
	tools := s.usable(list)
	s.catalogs.Set(key, tools)
	return tools, nil
}
