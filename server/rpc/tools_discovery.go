package rpc

import (
	"context"
	"strings"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/mcpservers"
)

func (s *toolsServer) ReadOpenApi(ctx context.Context, req *parlancev1.ReadOpenApiRequest) (*parlancev1.ReadOpenApiResponse, error) {
	ref := refOf(ctx)
	api, err := s.tools.ReadOpenAPI(ctx, ref, tools.ReadOpenAPIParams{
		Document: req.GetDocument(), URL: req.GetUrl(), Server: req.GetServer(), Prefix: req.GetPrefix(),
	})
	operations := each(api.Operations, func(o tools.OpenAPIOperation) *parlancev1.OpenApiOperation {
		return openAPIOperationProto(string(ref.ID), o)
	})
	return &parlancev1.ReadOpenApiResponse{Title: api.Title, Server: api.Server, Operations: operations}, err
}

func (s *toolsServer) DiscoverMcpTools(
	ctx context.Context, req *parlancev1.DiscoverMcpToolsRequest,
) (*parlancev1.DiscoverMcpToolsResponse, error) {
	found, err := s.tools.DiscoverMCP(ctx, refOf(ctx), tools.DiscoverMCPParams{
		ToolID: tools.ID(req.GetToolId()), URL: req.GetMcpServerUrl(), AuthHeader: seal.Secret(req.GetAuthHeader()), Headers: req.GetHeaders(),
	})
	return &parlancev1.DiscoverMcpToolsResponse{
		ServerName: found.Name, ServerVersion: found.Version, Tools: each(found.Tools, mcpToolProto), Truncated: found.Truncated,
	}, err
}

func openAPIOperationProto(workspaceID string, o tools.OpenAPIOperation) *parlancev1.OpenApiOperation {
	proto := &parlancev1.OpenApiOperation{
		Operation: strings.TrimSpace(o.Method + " " + o.Path), OperationId: o.ID, Summary: o.Summary, Deprecated: o.Deprecated, Reason: o.Why,
		ToolId: string(o.ToolID), ChangedFields: o.Changed, Authentication: o.Wants.Words, Notes: o.Notes,
	}
	if made := o.Tool; made != nil {
		schema := jsonvalue.Raw(jsonvalue.Compact(made.InputSchema))
		proto.Tool = &parlancev1.CreateToolRequest{
			WorkspaceId: workspaceID, Slug: made.Slug, Description: made.Description, Kind: string(tools.KindHTTP),
			InputSchema: structOf(schema), InputSchemaJson: textOf(schema), WebhookUrl: made.URL, Method: made.Method,
			PathParams: made.PathParams, QueryParams: made.QueryParams, Headers: made.Headers,
			HardcodedQueryParams: made.HardcodedQueryParams, AllowDynamicVars: made.DynamicVariables,
		}
	}
	return proto
}

func mcpToolProto(t mcpservers.Tool) *parlancev1.McpTool {
	return &parlancev1.McpTool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: structOf(t.InputSchema), InputSchemaJson: textOf(t.InputSchema),
		Usable: t.Refused == "", Reason: t.Detail,
	}
}
