package sessions

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// ID names a session (ses_…).
type ID string

// TurnID names a turn (turn_…).
type TurnID string

// Modality is what a session's user may do.
type Modality string

// The modalities. Text sessions have no voice socket; all have a chat socket.
const (
	Voice        Modality = "voice"
	VoiceAndText Modality = "voice+text"
	Text         Modality = "text"
)

// Status is where a session is in its life; see the drawing in doc.go.
type Status string

// The statuses. Broken is "failed" on the wire; Failed is an event here.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Broken     Status = "failed"
)

// The end reasons that are ours; POST …/end brings its own.
const (
	ReasonEndedByAPI   = "ended_by_api"
	ReasonEndCall      = "end_call"
	ReasonHangUp       = "hang_up"
	ReasonNoTurns      = "no_turns"
	ReasonIdle         = "idle_timeout"
	ReasonMaxDuration  = "max_duration"
	ReasonDisconnected = "disconnected"
	ReasonExpired      = "expired"
	ReasonInternal     = "internal_error"
)

// Limits. Source: decisions, Sessions; those after DropGrace are our own.
const (
	DefaultTTL = 900 * time.Second
	MinTTL     = 60 * time.Second
	MaxTTL     = 3600 * time.Second
	// DropGrace is how long a session waits for a lost socket to come back.
	DropGrace = 120 * time.Second
	// EndGrace is how long an end waits for the turn that is running to be recorded.
	EndGrace = 5 * time.Second
	// MaxTextChars bounds what a user says at once.
	MaxTextChars = 32_000
	// MaxReasonChars bounds the reason of an end.
	MaxReasonChars = 500
)

// Session is one conversation between an agent and a user.
type Session struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`

	ID           ID                  `bun:"id,pk"`
	TenantID     workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID  workspaces.ID       `bun:"workspace_id"`
	AgentID      agents.ID           `bun:"agent_id"`
	AgentVersion int                 `bun:"agent_version"`
	// UserID is the caller's stable id of the user.
	UserID    string   `bun:"user_id"`
	Modality  Modality `bun:"modality"`
	Status    Status   `bun:"status"`
	EndReason string   `bun:"end_reason"`
	// Config is the agent's with the session's overrides applied.
	Config             agents.Config              `bun:"config,type:jsonb"`
	Overrides          map[string]json.RawMessage `bun:"overrides,type:jsonb"`
	VoiceStackOverride map[string]json.RawMessage `bun:"voice_stack_override,type:jsonb"`
	// DynamicVariables are those that are not secret__.
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	SecretVariables  []byte            `bun:"secret_variables,type:bytea"`
	// AssignedVariables are those that answers of tools have set; they win over DynamicVariables.
	AssignedVariables map[string]string `bun:"assigned_variables,type:jsonb"`
	// ItemEdits are what clients did to items afterwards; nil when nothing.
	ItemEdits ItemEdits `bun:"item_edits,type:jsonb,nullzero"`
	// VariablesHash is the salted SHA-256 of all variables in hex; the token repeats it.
	VariablesHash  string    `bun:"variables_hash"`
	TokenExpiresAt time.Time `bun:"token_expires_at"`
	// Language of the conversation, BCP 47; empty when unknown.
	Language string `bun:"language"`
	// SummarizedTurns is how many of the first turns the session's summary tells of.
	SummarizedTurns    int       `bun:"summarized_turns"`
	TurnCount          int       `bun:"turn_count"`
	InputTokens        int       `bun:"input_tokens"`
	OutputTokens       int       `bun:"output_tokens"`
	ToolCalls          int       `bun:"tool_calls"`
	MaxDurationSeconds int       `bun:"max_duration_seconds"`
	IdleTimeoutSeconds int       `bun:"idle_timeout_seconds"`
	CreatedAt          time.Time `bun:"created_at"`
	// StartedAt is zero while pending.
	StartedAt      time.Time `bun:"started_at,nullzero"`
	LastActivityAt time.Time `bun:"last_activity_at"`
	// Likes counts what the user thought of the answers.
	Likes Likes `bun:"embed:"`
	// DroppedAt is since when no socket is there after a drop; zero otherwise.
	DroppedAt time.Time `bun:"dropped_at,nullzero"`
	EndedAt   time.Time `bun:"ended_at,nullzero"`

	// RunningTurnID and RunningUntil are the turn lease: who may run a turn, until when.
	RunningTurnID TurnID    `bun:"running_turn_id,nullzero"`
	RunningUntil  time.Time `bun:"running_until,nullzero"`
	// RunningResponseID is the answer that it gives to a socket; empty over HTTP.
	RunningResponseID string `bun:"running_response_id"`
	// EndingAt is when an end was asked for that waits for the running turn.
	EndingAt     time.Time `bun:"ending_at,nullzero"`
	EndingStatus Status    `bun:"ending_status"`
	EndingReason string    `bun:"ending_reason"`
	// SpillUntil is how long a node may still be writing turns that it kept while Postgres was away; see spill.go.
	SpillUntil time.Time `bun:"spill_until,nullzero"`
}

// Ref is the session's workspace.
func (s Session) Ref() workspaces.Ref {
	return workspaces.Ref{TenantID: s.TenantID, ID: s.WorkspaceID}
}

// Closed says whether the session is over.
func (s Session) Closed() bool { return s.Status == Completed || s.Status == Broken }

// Duration is from the start to the end, or to now while it is open; 0 while pending.
func (s Session) Duration(now time.Time) time.Duration {
	switch {
	case s.StartedAt.IsZero():
		return 0
	case s.EndedAt.IsZero():
		return max(0, now.Sub(s.StartedAt))
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// HasChannel says whether the session's modality has the socket.
func (s Session) HasChannel(channel LiveChannel) bool {
	return channel == ChatChannel || s.Modality != Text
}

// TurnStatus is where a turn is in its life.
type TurnStatus string

// The turn statuses.
const (
	TurnInProgress TurnStatus = "in_progress"
	TurnCompleted  TurnStatus = "completed"
	TurnCancelled  TurnStatus = "cancelled"
	TurnFailed     TurnStatus = "failed"
)

// Turn is what the user said and what the agent answered.
type Turn struct {
	bun.BaseModel `bun:"table:turns,alias:t"`

	ID          TurnID              `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SessionID   ID                  `bun:"session_id"`
	// Index is the turn's place in the session, from 0.
	Index int `bun:"index"`
	// UserText is empty for a turn the agent began.
	UserText  string     `bun:"user_text"`
	AgentText string     `bun:"agent_text"`
	Status    TurnStatus `bun:"status"`
	// Messages are what the model saw and said inside the turn, the user's words first.
	Messages     []Message  `bun:"messages,type:json"`
	Citations    []Citation `bun:"citations,type:jsonb"`
	Model        string     `bun:"model"`
	InputTokens  int        `bun:"input_tokens"`
	OutputTokens int        `bun:"output_tokens"`
	Metrics      Metrics    `bun:"metrics,type:jsonb"`
	// Retrieval is nil when no passages were looked for.
	Retrieval *Retrieval `bun:"retrieval,type:jsonb,nullzero"`
	// ErrorCode and ErrorMessage say why it failed; empty otherwise.
	ErrorCode    string `bun:"error_code"`
	ErrorMessage string `bun:"error_message"`
	// Feedback is what the user thought of the answer.
	Feedback  Score     `bun:"feedback"`
	StartedAt time.Time `bun:"started_at"`
	EndedAt   time.Time `bun:"ended_at,nullzero"`

	// Items are those that the texts do not tell of, or not truly: see [NotedItem]. Only Transcript
	// fills them in.
	Items []NotedItem `bun:"-"`
	// ReceiptHash is of the receipt; empty while the turn goes on.
	ReceiptHash string `bun:"receipt_hash"`
	// Receipt is the receipt's canonical JSON. It is written with the turn's end and read by Service.Receipt only.
	Receipt json.RawMessage `bun:"-"`

	// Offered are the tools of the caller of a turn without a socket, as JSON. It is written with a new turn and read
	// by Service.offered only.
	Offered json.RawMessage `bun:"-" json:"-"`

	// Wanted says of a turn that does not run that an answer was asked for.
	Wanted bool `bun:"wanted"`
	// Losses counts the nodes that were lost with it; LostResponseID is the answer the last one had begun.
	Losses         int    `bun:"losses"`
	LostResponseID string `bun:"lost_response_id"`
	// Spilled says that it could not be written at once: a node kept it on disk while Postgres was away.
	Spilled bool `bun:"spilled"`
}

// ToolCall is a call of a turn with its result.
type ToolCall struct {
	CallResult

	ID string
	// Name is the tool's slug.
	Name      string
	Arguments json.RawMessage
	// Output is what the model got; it may be empty once the call is Settled.
	Output string
	// Settled says that the call has its result.
	Settled bool
}

// made says that the call is known to have been made, well or badly. One that was refused was not; of one that its client
// left unanswered, or whose node was lost, it is not known.
func (c ToolCall) Made() bool {
	status := outcome(c.ToolID, c.CallResult)
	return c.Settled && (status == callSucceeded || status == callFailed)
}

// ToolCalls are the turn's calls in order, those of the client too.
func (t Turn) ToolCalls() []ToolCall {
	var calls []ToolCall
	at := map[string]int{}
	for _, message := range t.Messages {
		for _, call := range message.Calls {
			if message.Put {
				continue // nobody made it
			}
			at[call.ID] = len(calls)
			calls = append(calls, ToolCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments, CallResult: CallResult{ToolID: call.clientTool(), StartedAt: t.StartedAt}})
		}
		if i, ok := at[message.CallID]; ok && message.Role == RoleTool {
			calls[i].Output, calls[i].Settled = message.Text, true
			if message.Result != nil {
				toolID := calls[i].ToolID
				calls[i].CallResult = *message.Result
				calls[i].ToolID = cmp.Or(calls[i].ToolID, toolID)
			}
		}
	}
	return calls
}

// waits says that a call of the turn has no result yet. An empty result is one.
func (t Turn) HasOpenCalls() bool {
	return slices.ContainsFunc(t.ToolCalls(), func(c ToolCall) bool { return !c.Settled })
}

// OpenClientCalls are the calls of the turn that its client has not answered.
func (t Turn) OpenClientCalls() []ToolCall {
	open := map[string]bool{}
	for _, call := range OpenCalls([]Turn{t}) {
		open[call.ID] = true
	}
	return slices.DeleteFunc(t.ToolCalls(), func(c ToolCall) bool { return !open[c.ID] })
}

// Usage is what the model counted in the turn.
func (t Turn) Usage() Usage {
	return Usage{InputTokens: t.InputTokens, OutputTokens: t.OutputTokens, Model: t.Model}
}

// Usage is what a model counted.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// Model is the model that answered.
	Model string
}

// Message is one message of a turn as it is stored: model.Message with the items' ids.
type Message struct {
	Role   string `json:"role"`
	ItemID string `json:"item_id,omitempty"`
	Text   string `json:"text,omitempty"`
	// Calls are those an assistant's message made; each is answered by a tool message.
	Calls []MessageCall `json:"calls,omitempty"`
	// CallID and Result are of a tool's message.
	CallID string      `json:"call_id,omitempty"`
	Result *CallResult `json:"result,omitempty"`
	// At is when it was said, in milliseconds since the turn began.
	At int `json:"at,omitempty"`
	// After is the item that a client put this one behind, or AtFront; empty: where time puts it.
	After string `json:"after,omitempty"`
	// Put says that a client put in what the agent is to have said or called.
	Put bool `json:"put,omitempty"`
	// Again counts the items of the same id before it, all of which were removed: see claim.go.
	Again int `json:"again,omitempty"`
	// BrokenOff says that the agent did not say it to its end.
	BrokenOff bool `json:"broken_off,omitempty"`
	// Audio is of a message that was spoken; nil: it was written.
	Audio *Audio `json:"audio,omitempty"`
}

// CallResult is what is known of a call beside its output.
type CallResult struct {
	ToolID     string `json:"tool_id,omitempty"`
	StatusCode int    `json:"status_code,omitempty"`
	LatencyMS  int    `json:"latency_ms,omitempty"`
	Attempts   int    `json:"attempts,omitempty"`
	// ErrorCode is empty when the call succeeded.
	ErrorCode    string    `json:"error_code,omitempty"`
	ErrorMessage string    `json:"error_message,omitempty"`
	StartedAt    time.Time `json:"started_at"`
	// Assigned names the variables that the answer set.
	Assigned []string `json:"assigned,omitempty"`
	// Approval is who allowed the call, or did not; nil: nobody had to be asked.
	Approval *CallApproval `json:"approval,omitempty"`
}

// Made says that the call was made, or may have been: nobody waited for its result.
func (r CallResult) Made() bool {
	return r.ErrorCode == "" || r.Attempts > 0 || r.ErrorCode == CodeUnknown
}

// MessageCall is a call the model made.
type MessageCall struct {
	ID        string          `json:"id"`
	ItemID    string          `json:"item_id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Client says that the client runs it.
	Client bool `json:"client,omitempty"`
}

// clientTool is the id of a tool that the client runs; empty for others.
func (c MessageCall) clientTool() string {
	if !c.Client {
		return ""
	}
	return tools.ClientPrefix + c.Name
}

// Citation is a passage that was given to the model.
type Citation struct {
	SourceID   string  `json:"source_id"`
	SourceName string  `json:"source_name"`
	ChunkID    string  `json:"chunk_id"`
	Heading    string  `json:"heading,omitempty"`
	PageStart  int     `json:"page_start,omitempty"`
	PageEnd    int     `json:"page_end,omitempty"`
	Similarity float64 `json:"similarity"`
	// Excerpt is at most 500 characters of the passage.
	Excerpt string `json:"excerpt"`
	// Quoted is known for the extractive responder only.
	Quoted bool `json:"quoted,omitempty"`
}

// Metrics are the stages of a turn in milliseconds.
type Metrics struct {
	RetrievalMS       int `json:"retrieval_ms"`
	ModelFirstTokenMS int `json:"model_first_token_ms"`
	ToolsMS           int `json:"tools_ms"`
	TotalMS           int `json:"total_ms"`
	// ToolRounds counts the rounds of calls; RoundsExhausted says that the model had to answer
	// without tools then.
	ToolRounds      int  `json:"tool_rounds,omitempty"`
	RoundsExhausted bool `json:"tool_rounds_exhausted,omitempty"`
	// Incomplete is why the model stopped before the end of a completed answer (ReasonMaxOutputTokens or
	// ReasonContentFilter); empty: it did not.
	Incomplete string `json:"incomplete,omitempty"`
}
