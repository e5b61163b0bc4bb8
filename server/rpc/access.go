package rpc

import (
	"context"
	"fmt"

	"connectrpc.com/connect"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// Access turns the workspace id of a request into a workspaces.Ref that the caller may touch.
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

// refKey is the context key of the workspace that a request names.
type refKey struct{}

// Interceptor resolves the workspace of every unary request, for refOf. It belongs before the
// handlers of services whose methods all name a workspace. Their streams call Workspace, because a
// stream says only in its first message which one it is about.
func (a Access) Interceptor() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			named, ok := req.Any().(interface{ GetWorkspaceId() string })
			if !ok {
				return nil, fmt.Errorf("%T names no workspace", req.Any())
			}
			ref, err := a.Workspace(ctx, named.GetWorkspaceId())
			if err != nil {
				return nil, err
			}
			return next(context.WithValue(ctx, refKey{}, ref), req)
		}
	})
}

// refOf returns the workspace that Interceptor resolved. Without one it is the zero Ref, which
// owns nothing.
func refOf(ctx context.Context) workspaces.Ref {
	ref, _ := ctx.Value(refKey{}).(workspaces.Ref)
	return ref
}
