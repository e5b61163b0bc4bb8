package tools

import (
	"context"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// ListCalls lists the traces of a tool's calls and runs, newest first.
// Errors: NotFound, Invalid invalid-request (page_size, page_token).
func (s *Service) ListCalls(ctx context.Context, ref workspaces.Ref, id ID, p postgres.PageParams) ([]Call, string, error) {
	if _, err := s.Get(ctx, ref, id); err != nil {
		return nil, "", err
	}
	p.Order = postgres.NewestFirst
	return s.listCalls(ctx, ref, callFilter{column: "tool_id", value: string(id)}, p)
}

// ListCallsOfSession lists the traces of a session's calls, oldest first. Whether there is
// such a session is the caller's to know. Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) ListCallsOfSession(ctx context.Context, ref workspaces.Ref, sessionID string, p postgres.PageParams) ([]Call, string, error) {
	p.Order = postgres.OldestFirst
	return s.listCalls(ctx, ref, callFilter{column: "session_id", value: sessionID}, p)
}

func (s *Service) listCalls(ctx context.Context, ref workspaces.Ref, f callFilter, p postgres.PageParams) ([]Call, string, error) {
	p.Filters = []string{string(ref.TenantID), string(ref.ID), f.column, f.value}
	page, err := postgres.NewPage(p)
	if err != nil {
		return nil, "", err
	}
	return selectCalls(ctx, s.db, ref, f, page)
}
