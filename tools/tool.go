package tools

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/tools/httpcall"
	"parlance.dev/parlance/workspaces"
)

// ID identifies a tool: a UUID for custom tools, builtin:<name> or system:<name> otherwise.
type ID string

// Kind is how a custom tool is called. It is empty for built-in and system tools.
type Kind string

// The kinds.
const (
	KindHTTP Kind = "http"
	KindMCP  Kind = "mcp"
)

// Bucket says where a tool comes from. It decides how the tool is attached.
type Bucket string

// The buckets. Source: interface, Tool.
const (
	BucketMemory Bucket = "memory"
	BucketOptIn  Bucket = "opt_in"
	BucketSystem Bucket = "system"
	BucketCustom Bucket = "custom"
)

// The values of Config.Approval.
const (
	ApprovalNever  = "never"
	ApprovalAlways = "always"
	ApprovalListed = "listed"
)

// Defaults and bounds of a custom tool. Source: decisions, Tools.
const (
	DefaultTimeoutSecondsHTTP = 20
	DefaultTimeoutSecondsMCP  = 30
	MaxTimeoutSeconds         = 120
	DefaultResponseMaxBytes   = 256 << 10
	MinResponseMaxBytes       = 1 << 10
	MaxResponseMaxBytes       = 10 << 20
	// ModelMaxBytes bounds the part of an answer that the model gets.
	ModelMaxBytes = 16 << 10
	// MaxCallsPerSession is the largest cap an attachment can set.
	MaxCallsPerSession = 10_000
)

// Tool is an entry of the catalog. Built-in and system tools have no row, no times, and only the
// fields that the model sees.
type Tool struct {
	bun.BaseModel `bun:"table:tools,alias:t"`

	ID          ID                  `bun:"id,pk,type:uuid"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	// Slug is the stable name that the model sees.
	Slug string `bun:"slug"`
	// Description tells the model when to call the tool.
	Description string `bun:"description"`
	Kind        Kind   `bun:"kind"`
	Config      Config `bun:"config,type:jsonb"`
	// AuthHeader is sealed for (tenant, tool, auth_header). nil when there is none.
	AuthHeader []byte `bun:"auth_header,type:bytea"`
	// SecretHeaders are headers by name as JSON, sealed likewise; SecretHeaderNames are their names in
	// the canonical form, sorted.
	SecretHeaders     []byte    `bun:"secret_headers,type:bytea"`
	SecretHeaderNames []string  `bun:"secret_header_names,array"`
	CreatedAt         time.Time `bun:"created_at"`
	UpdatedAt         time.Time `bun:"updated_at"`

	Bucket Bucket `bun:"-"`
}

// Config is everything else about a tool, stored as JSON. It has no secrets.
type Config struct {
	// InputSchema is a JSON Schema 2020-12 of type object.
	InputSchema json.RawMessage `json:"input_schema"`
	// WebhookURL may have {argument} and {{variable}} placeholders in its path and query.
	WebhookURL string `json:"webhook_url,omitempty"`
	// Method is GET, POST, PATCH, PUT or DELETE. Empty for mcp.
	Method      string   `json:"method,omitempty"`
	PathParams  []string `json:"path_params,omitempty"`
	QueryParams []string `json:"query_params,omitempty"`
	// HardcodedQueryParams and HardcodedBodyParams (a JSON object) replace arguments of the same name.
	HardcodedQueryParams map[string]string `json:"hardcoded_query_params,omitempty"`
	HardcodedBodyParams  json.RawMessage   `json:"hardcoded_body_params,omitempty"`
	Headers              map[string]string `json:"headers,omitempty"`
	MCPServerURL         string            `json:"mcp_server_url,omitempty"`
	MCPToolName          string            `json:"mcp_tool_name,omitempty"`
	AllowedTools         []string          `json:"allowed_tools,omitempty"`
	// Approval says whether the client must allow a call of an mcp tool: ApprovalNever,
	// ApprovalAlways, or ApprovalListed for the remote tools in ApprovalTools. Empty for http.
	Approval      string   `json:"approval,omitempty"`
	ApprovalTools []string `json:"approval_tools,omitempty"`
	// RequiresUserIntent says that a call is made only for what the user has just said, and not after
	// the answer of another tool.
	RequiresUserIntent bool `json:"requires_user_intent,omitempty"`
	AllowDynamicVars   bool `json:"allow_dynamic_vars,omitempty"`
	TimeoutSeconds     int  `json:"timeout_seconds"`
	ResponseMaxBytes   int  `json:"response_max_bytes"`
	// Assignments store values of the answer as variables of the session.
	Assignments []Assignment `json:"assignments,omitempty"`
	// Retry and Breaker replace the installation's rules for the tool; nil keeps them.
	Retry   *Retry   `json:"retry,omitempty"`
	Breaker *Breaker `json:"breaker,omitempty"`
}

// Retry says how often a call of an http tool is tried, and after which statuses one that is
// idempotent is tried again. Zero fields are the defaults of httpcall.
type Retry struct {
	MaxAttempts int   `json:"max_attempts,omitempty"`
	Statuses    []int `json:"statuses,omitempty"`
}

// Breaker says when calls of a tool are paused because they fail. Zero fields are the defaults of
// package breaker.
type Breaker struct {
	// Disabled tools are called however many calls failed.
	Disabled      bool    `json:"disabled,omitempty"`
	FailureRatio  float64 `json:"failure_ratio,omitempty"`
	MinCalls      int     `json:"min_calls,omitempty"`
	WindowSeconds int     `json:"window_seconds,omitempty"`
	PauseSeconds  int     `json:"pause_seconds,omitempty"`
}

// Timeout bounds a whole call, retries included.
func (c Config) Timeout() time.Duration { return time.Duration(c.TimeoutSeconds) * time.Second }

// endpoint is what an http tool calls.
func (c Config) endpoint() httpcall.Endpoint {
	return httpcall.Endpoint{
		Method: c.Method, URL: c.WebhookURL, PathParams: c.PathParams, QueryParams: c.QueryParams,
		HardcodedQuery: c.HardcodedQueryParams, HardcodedBody: c.HardcodedBodyParams, Headers: c.Headers,
	}
}

// AuthHeaderSet says whether an auth_header is stored.
func (t Tool) AuthHeaderSet() bool { return len(t.AuthHeader) > 0 }

// Idempotent says whether a call can be cancelled or repeated without harm. Barge-in cancels no
// other calls. Source: decisions, Tools.
func (t Tool) Idempotent() bool {
	if t.Kind == KindHTTP {
		return httpcall.Idempotent(t.Config.Method)
	}
	return slices.Contains([]ID{"builtin:search_memory", "system:language_detection", "system:skip_turn"}, t.ID)
}

// Attachment binds a tool to an agent.
type Attachment struct {
	bun.BaseModel `bun:"table:tool_attachments,alias:ta"`

	AgentID     agents.ID           `bun:"agent_id,pk"`
	ToolID      ID                  `bun:"tool_id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Enabled     bool                `bun:"enabled"`
	// MaxCallsPerSession is 0 for no cap.
	MaxCallsPerSession int       `bun:"max_calls_per_session"`
	CreatedAt          time.Time `bun:"created_at"`
	UpdatedAt          time.Time `bun:"updated_at"`

	// Slug is that of the tool.
	Slug string `bun:"-"`
}

// Call is the trace of one call or run.
type Call struct {
	bun.BaseModel `bun:"table:tool_calls,alias:tc"`

	ID          string              `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	// SessionID and TurnID are empty for a run.
	SessionID string `bun:"session_id,nullzero"`
	TurnID    string `bun:"turn_id,nullzero"`
	// AgentID is the agent whose model called. Empty for a run.
	AgentID agents.ID `bun:"agent_id,nullzero"`
	ToolID  ID        `bun:"tool_id"`
	Slug    string    `bun:"slug"`
	// Input is the JSON object of arguments, redacted.
	Input json.RawMessage `bun:"input,type:jsonb"`
	// Output is the text that the model got.
	Output string `bun:"output"`
	// StatusCode is the HTTP status of the last attempt. 0 when there was no answer.
	StatusCode   int       `bun:"status_code"`
	LatencyMS    int       `bun:"latency_ms"`
	Attempts     int       `bun:"attempts"`
	ErrorCode    string    `bun:"error_code"`
	ErrorMessage string    `bun:"error_message"`
	StartedAt    time.Time `bun:"started_at"`
}
