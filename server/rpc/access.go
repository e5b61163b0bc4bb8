package rpc

import (
	"context"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// Access turns the workspace id of a request into a workspaces.Ref that the caller may touch.
// Every handler with a workspace in its path begins with it.
type Access struct {
	workspaces *workspaces.Service
}

// NewAccess makes an Access.
func NewAccess(service *workspaces.Service) Access { return Access{workspaces: service} }

// Workspace is the workspace of that id. Errors: NotFound.
func (a Access) Workspace(ctx context.Context, id string) (workspaces.Ref, error) {
	ref, err := a.workspaces.Resolve(ctx, workspaces.PrincipalFrom(ctx), id)
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(ref.ID))
	return ref, err
}
