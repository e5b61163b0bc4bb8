package rpc

import (
	"cmp"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools"
)

func createToolParams(req *parlancev1.CreateToolRequest) tools.CreateParams {
	return tools.CreateParams{
		Slug: req.GetSlug(), Description: req.GetDescription(), Kind: tools.Kind(req.GetKind()),
		AuthHeader: seal.Secret(req.GetAuthHeader()), SecretHeaders: secretsOf(req.GetSecretHeaders()),
		Config: tools.Config{
			InputSchema: exactOf(req.GetInputSchemaJson(), req.GetInputSchema()), WebhookURL: req.GetWebhookUrl(), Method: req.GetMethod(),
			PathParams: req.GetPathParams(), QueryParams: req.GetQueryParams(),
			HardcodedQueryParams: req.GetHardcodedQueryParams(),
			HardcodedBodyParams:  exactOf(req.GetHardcodedBodyParamsJson(), req.GetHardcodedBodyParams()),
			Headers:              req.GetHeaders(), MCPServerURL: req.GetMcpServerUrl(), MCPToolName: req.GetMcpToolName(),
			RequiresUserIntent: req.GetRequiresUserIntent(), Approval: req.GetApproval(), ApprovalTools: req.GetApprovalTools(),
			AllowedTools: req.GetAllowedTools(), AllowDynamicVars: req.GetAllowDynamicVars(),
			TimeoutSeconds: int(req.GetTimeoutSeconds()), ResponseMaxBytes: int(req.GetResponseMaxBytes()),
			Assignments: each(req.GetAssignments(), toolAssignment),
			Retry:       toolRetry(req.GetRetry()), Breaker: toolBreaker(req.GetBreaker()),
		},
	}
}

// updateToolParams changes the fields sent; a field sent without a value gets its default.
func updateToolParams(req *parlancev1.UpdateToolRequest) tools.UpdateParams {
	mask := req.GetUpdateMask()
	return tools.UpdateParams{
		Description:   changed(mask, "description", req.Description),
		AuthHeader:    (*seal.Secret)(changed(mask, "auth_header", req.AuthHeader)),
		SecretHeaders: changedList(mask, "secret_headers", secretsOf(req.GetSecretHeaders())),
		Apply:         func(config *tools.Config) { applyToolUpdate(req, config) },
	}
}

// secretsOf takes secrets from a request.
func secretsOf(values map[string]string) map[string]seal.Secret {
	secrets := make(map[string]seal.Secret, len(values))
	for name, value := range values {
		secrets[name] = seal.Secret(value)
	}
	return secrets
}

func applyToolUpdate(req *parlancev1.UpdateToolRequest, config *tools.Config) {
	inputSchema := func() { config.InputSchema = exactOf(req.GetInputSchemaJson(), req.GetInputSchema()) }
	hardcodedBodyParams := func() {
		config.HardcodedBodyParams = exactOf(req.GetHardcodedBodyParamsJson(), req.GetHardcodedBodyParams())
	}
	applyChanges(req.GetUpdateMask(), []change{
		{"input_schema", req.GetInputSchema() != nil, inputSchema},
		{"input_schema_json", req.GetInputSchemaJson() != "", inputSchema},
		{"webhook_url", req.WebhookUrl != nil, func() { config.WebhookURL = req.GetWebhookUrl() }},
		{"method", req.Method != nil, func() { config.Method = req.GetMethod() }},
		{"path_params", len(req.GetPathParams()) > 0, func() { config.PathParams = req.GetPathParams() }},
		{"query_params", len(req.GetQueryParams()) > 0, func() { config.QueryParams = req.GetQueryParams() }},
		{
			"hardcoded_query_params", len(req.GetHardcodedQueryParams()) > 0,
			func() { config.HardcodedQueryParams = req.GetHardcodedQueryParams() },
		},
		{"hardcoded_body_params", req.GetHardcodedBodyParams() != nil, hardcodedBodyParams},
		{"hardcoded_body_params_json", req.GetHardcodedBodyParamsJson() != "", hardcodedBodyParams},
		{"headers", len(req.GetHeaders()) > 0, func() { config.Headers = req.GetHeaders() }},
		{"mcp_server_url", req.McpServerUrl != nil, func() { config.MCPServerURL = req.GetMcpServerUrl() }},
		{"mcp_tool_name", req.McpToolName != nil, func() { config.MCPToolName = req.GetMcpToolName() }},
		{"allowed_tools", len(req.GetAllowedTools()) > 0, func() { config.AllowedTools = req.GetAllowedTools() }},
		{"approval", req.Approval != nil, func() { config.Approval = req.GetApproval() }},
		{"approval_tools", len(req.GetApprovalTools()) > 0, func() { config.ApprovalTools = req.GetApprovalTools() }},
		{
			"requires_user_intent", req.RequiresUserIntent != nil,
			func() { config.RequiresUserIntent = req.GetRequiresUserIntent() },
		},
		{"allow_dynamic_vars", req.AllowDynamicVars != nil, func() { config.AllowDynamicVars = req.GetAllowDynamicVars() }},
		{"timeout_seconds", req.TimeoutSeconds != nil, func() { config.TimeoutSeconds = int(req.GetTimeoutSeconds()) }},
		{"response_max_bytes", req.ResponseMaxBytes != nil, func() { config.ResponseMaxBytes = int(req.GetResponseMaxBytes()) }},
		{"assignments", len(req.GetAssignments()) > 0, func() { config.Assignments = each(req.GetAssignments(), toolAssignment) }},
		{"retry", req.GetRetry() != nil, func() {
			stored := cmp.Or(toolRetryProto(config.Retry), &parlancev1.ToolRetry{})
			config.Retry = toolRetry(merged(req.GetUpdateMask(), "retry", stored, req.GetRetry()))
		}},
		{"breaker", req.GetBreaker() != nil, func() {
			stored := cmp.Or(toolBreakerProto(config.Breaker), &parlancev1.ToolBreaker{})
			config.Breaker = toolBreaker(merged(req.GetUpdateMask(), "breaker", stored, req.GetBreaker()))
		}},
	})
}

// attachToolParams enables the tool unless the request says otherwise. Source: interface, Tool
// attachment.
func attachToolParams(req *parlancev1.AttachToolRequest) tools.AttachParams {
	return tools.AttachParams{
		AgentID: agents.ID(req.GetAgentId()), ToolID: tools.ID(req.GetToolId()), Enabled: req.Enabled == nil || req.GetEnabled(),
		MaxCallsPerSession: intOf(req.MaxCallsPerSession),
	}
}

func toolProto(t tools.Tool) *parlancev1.Tool {
	c := t.Config
	return &parlancev1.Tool{
		Id: string(t.ID), Slug: t.Slug, Description: t.Description, Kind: string(t.Kind), Bucket: string(t.Bucket),
		InputSchema: structOf(c.InputSchema), InputSchemaJson: textOf(c.InputSchema), WebhookUrl: c.WebhookURL, Method: c.Method,
		PathParams: c.PathParams, QueryParams: c.QueryParams, HardcodedQueryParams: c.HardcodedQueryParams,
		HardcodedBodyParams: structOf(c.HardcodedBodyParams), HardcodedBodyParamsJson: textOf(c.HardcodedBodyParams), Headers: c.Headers,
		McpServerUrl: c.MCPServerURL, McpToolName: c.MCPToolName, AllowedTools: c.AllowedTools,
		Approval: c.Approval, ApprovalTools: c.ApprovalTools,
		AllowDynamicVars: c.AllowDynamicVars, RequiresUserIntent: c.RequiresUserIntent,
		TimeoutSeconds: int32(c.TimeoutSeconds), ResponseMaxBytes: int32(c.ResponseMaxBytes),
		AuthHeaderSet: t.AuthHeaderSet(), SecretHeaderNames: t.SecretHeaderNames,
		CreatedAt: timestamp(t.CreatedAt), UpdatedAt: timestamp(t.UpdatedAt),
		Assignments: each(c.Assignments, toolAssignmentProto),
		Retry:       toolRetryProto(c.Retry), Breaker: toolBreakerProto(c.Breaker),
	}
}

func toolRetry(r *parlancev1.ToolRetry) *tools.Retry {
	if r == nil {
		return nil
	}
	return &tools.Retry{
		MaxAttempts: int(r.GetMaxAttempts()), Statuses: each(r.GetStatuses(), func(status int32) int { return int(status) }),
	}
}

func toolRetryProto(r *tools.Retry) *parlancev1.ToolRetry {
	if r == nil {
		return nil
	}
	return &parlancev1.ToolRetry{
		MaxAttempts: int32Of(r.MaxAttempts), Statuses: each(r.Statuses, func(status int) int32 { return int32Of(status) }),
	}
}

func toolBreaker(b *parlancev1.ToolBreaker) *tools.Breaker {
	if b == nil {
		return nil
	}
	return &tools.Breaker{
		Disabled: b.GetDisabled(), FailureRatio: b.GetFailureRatio(), MinCalls: int(b.GetMinCalls()),
		WindowSeconds: int(b.GetWindowSeconds()), PauseSeconds: int(b.GetPauseSeconds()),
	}
}

func toolBreakerProto(b *tools.Breaker) *parlancev1.ToolBreaker {
	if b == nil {
		return nil
	}
	return &parlancev1.ToolBreaker{
		Disabled: b.Disabled, FailureRatio: b.FailureRatio, MinCalls: int32Of(b.MinCalls),
		WindowSeconds: int32Of(b.WindowSeconds), PauseSeconds: int32Of(b.PauseSeconds),
	}
}

func toolAssignment(a *parlancev1.ToolAssignment) tools.Assignment {
	return tools.Assignment{DynamicVariable: a.GetDynamicVariable(), ValuePath: a.GetValuePath()}
}

func toolAssignmentProto(a tools.Assignment) *parlancev1.ToolAssignment {
	return &parlancev1.ToolAssignment{DynamicVariable: a.DynamicVariable, ValuePath: a.ValuePath}
}

func toolAttachmentProto(a tools.Attachment) *parlancev1.ToolAttachment {
	return &parlancev1.ToolAttachment{
		AgentId: string(a.AgentID), ToolId: string(a.ToolID), Slug: a.Slug, Enabled: a.Enabled,
		MaxCallsPerSession: int32(a.MaxCallsPerSession),
		CreatedAt:          timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt),
	}
}

func agentToolProto(e tools.Entry) *parlancev1.AgentTool {
	return &parlancev1.AgentTool{
		Tool: toolProto(e.Tool), Enabled: e.Enabled, DisabledReason: string(e.DisabledReason),
		MaxCallsPerSession: int32(e.MaxCallsPerSession),
		Name:               e.Name, RemoteTool: e.RemoteTool, NeedsApproval: e.NeedsApproval, DisabledDetail: e.Detail,
		Description: e.Description, InputSchema: structOf(e.InputSchema), InputSchemaJson: textOf(e.InputSchema),
	}
}

func toolsConfigProto(disabledTools []string, config agents.Config) *parlancev1.ToolsConfig {
	return &parlancev1.ToolsConfig{
		DisabledTools: disabledTools, ClientToolTimeoutSeconds: int32Of(config.ClientToolTimeoutSeconds),
		ClientTools: each(config.ClientTools, clientToolProto),
	}
}

func clientTool(t *parlancev1.AgentClientTool) agents.ClientTool {
	return agents.ClientTool{
		Name: t.GetName(), Description: t.GetDescription(), Parameters: exactOf(t.GetParametersJson(), t.GetParameters()),
	}
}

func clientToolProto(t agents.ClientTool) *parlancev1.AgentClientTool {
	return &parlancev1.AgentClientTool{
		Name: t.Name, Description: t.Description, Parameters: structOf(t.Parameters), ParametersJson: textOf(t.Parameters),
	}
}

func toolCallProto(c tools.Call) *parlancev1.ToolCall {
	call := &parlancev1.ToolCall{
		Id: c.ID, SessionId: c.SessionID, TurnId: c.TurnID, AgentId: string(c.AgentID), ToolId: string(c.ToolID), Slug: c.Slug,
		Input: structOf(c.Input), InputJson: textOf(c.Input), Output: c.Output,
		StatusCode: int32(c.StatusCode), LatencyMs: int32(c.LatencyMS), Attempts: int32(c.Attempts),
		StartedAt: timestamp(c.StartedAt),
	}
	if c.ErrorCode != "" {
		call.Error = &parlancev1.ToolError{Code: c.ErrorCode, Message: c.ErrorMessage}
	}
	return call
}

func toolRunProto(o tools.Outcome) *parlancev1.RunToolResponse {
	run := &parlancev1.RunToolResponse{
		Output: valueOf(o.OutputJSON), OutputJson: textOf(o.OutputJSON), OutputText: o.OutputText,
		StatusCode: int32(o.StatusCode), LatencyMs: int32(o.Latency.Milliseconds()), Attempts: int32(o.Attempts),
	}
	if o.Error != nil {
		run.Error = &parlancev1.ToolError{Code: string(o.Error.Code), Message: o.Error.Message}
	}
	if o.Request != nil {
		run.Request = &parlancev1.ToolRequest{Method: o.Request.Method, Url: o.Request.URL, Headers: o.Request.Headers, Body: o.Request.Body}
	}
	return run
}

// callFilterRequest is what the requests for lists of traces have in common.
type callFilterRequest interface {
	GetToolId() string
	GetStatus() string
	GetErrorCode() string
	GetStartedAfter() *timestamppb.Timestamp
	GetStartedBefore() *timestamppb.Timestamp
}

func callFilter(req callFilterRequest, sessionID, agentID string) tools.CallFilter {
	return tools.CallFilter{
		ToolID: tools.ID(req.GetToolId()), SessionID: sessionID, AgentID: agents.ID(agentID),
		Status: tools.CallStatus(req.GetStatus()), ErrorCode: tools.Code(req.GetErrorCode()),
		StartedAfter: timeOf(req.GetStartedAfter()), StartedBefore: timeOf(req.GetStartedBefore()),
	}
}

// valueOf returns JSON as a Value; null if there is none, or if a Value cannot hold it.
func valueOf(raw json.RawMessage) *structpb.Value {
	value := new(structpb.Value)
	if len(raw) == 0 || protojson.Unmarshal(raw, value) != nil {
		return structpb.NewNullValue()
	}
	return value
}
