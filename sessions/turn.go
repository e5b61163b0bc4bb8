package sessions

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

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
	// Messages are what the model read and said within the turn, the user's words first.
	Messages     []Message  `bun:"messages,type:json"`
	Citations    []Citation `bun:"citations,type:jsonb"`
	Model        string     `bun:"model"`
	InputTokens  int        `bun:"input_tokens"`
	OutputTokens int        `bun:"output_tokens"`
	Metrics      Metrics    `bun:"metrics,type:jsonb"`
	// Speech is written by package latency only; nil when the answer was not spoken, or to nothing
	// that was heard.
	Speech *SpeechMetrics `bun:"speech,type:jsonb,nullzero"`
	// Retrieval is nil when no passages were searched.
	Retrieval *Retrieval `bun:"retrieval,type:jsonb,nullzero"`
	// ErrorCode and ErrorMessage say why the turn failed; empty otherwise.
	ErrorCode    string `bun:"error_code"`
	ErrorMessage string `bun:"error_message"`
	// Feedback is what the user thought of the answer.
	Feedback  Score     `bun:"feedback"`
	StartedAt time.Time `bun:"started_at"`
	EndedAt   time.Time `bun:"ended_at,nullzero"`

	// Items are set by Transcript only; see [TranscriptItem].
	Items []TranscriptItem `bun:"-"`
	// ReceiptHash is the receipt's hash; empty while the turn is in progress.
	ReceiptHash string `bun:"receipt_hash"`
	// Receipt is the receipt's canonical JSON. It is written with the turn's end, and read by
	// Service.Receipt only.
	Receipt json.RawMessage `bun:"-"`

	// ClientTools are the tools, as JSON, that the caller of a turn over HTTP runs itself. They are
	// written with a new turn and read separately.
	ClientTools json.RawMessage `bun:"-" json:"-"`

	// ToBeResumed says that the turn is not running and is to be resumed.
	ToBeResumed bool `bun:"wanted" json:"Wanted"`
	// Losses counts the nodes that were lost while they ran the turn. LostResponseID is the
	// response that the last of them had begun.
	Losses         int    `bun:"losses"`
	LostResponseID string `bun:"lost_response_id"`
	// Journalled says that a node kept the turn in its journal while Postgres was away.
	Journalled bool `bun:"spilled" json:"Spilled"`
}

// NewTurn returns an empty turn in progress at the session's next index.
func NewTurn(session Session, id TurnID, now time.Time) Turn {
	return Turn{
		ID: id, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, SessionID: session.ID,
		Index: session.TurnCount, Status: TurnInProgress, Messages: []Message{}, Citations: []Citation{}, StartedAt: now,
	}
}

// ToolCall is a call of a turn with its result.
type ToolCall struct {
	CallResult

	ID string
	// Name is the tool's slug.
	Name      string
	Arguments json.RawMessage
	// Output is what the model got. It may be empty even when the call is Settled.
	Output string
	// Settled says that the call has its result.
	Settled bool
}

// Made reports whether the call is known to have been made, successfully or not. A refused call was
// not made. A call that its client did not answer, or whose node was lost, may not have been.
func (c ToolCall) Made() bool {
	status := callOutcome(c.ToolID, c.CallResult)
	return c.Settled && (status == callSucceeded || status == callFailed)
}

// ToolCalls returns the turn's calls in order, those of the client included.
func (t Turn) ToolCalls() []ToolCall {
	var calls []ToolCall
	at := map[string]int{}
	for _, message := range t.Messages {
		for _, call := range message.Calls {
			if message.Inserted {
				continue // the client put it in: nobody made the call
			}
			at[call.ID] = len(calls)
			calls = append(calls, ToolCall{
				ID: call.ID, Name: call.Name, Arguments: call.Arguments,
				CallResult: CallResult{ToolID: call.clientTool(), StartedAt: t.StartedAt},
			})
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

// HasOpenCalls reports whether a call of the turn has no result yet. An empty result is a result.
func (t Turn) HasOpenCalls() bool {
	return slices.ContainsFunc(t.ToolCalls(), func(c ToolCall) bool { return !c.Settled })
}

// Usage returns the tokens that the turn used.
func (t Turn) Usage() Usage {
	return Usage{InputTokens: t.InputTokens, OutputTokens: t.OutputTokens, Model: t.Model}
}

// Usage counts the tokens that a model used.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// Model is the model that answered.
	Model string
}

// Metrics are the durations of a turn's stages, in milliseconds.
type Metrics struct {
	RetrievalMS       int `json:"retrieval_ms"`
	ModelFirstTokenMS int `json:"model_first_token_ms"`
	ToolsMS           int `json:"tools_ms"`
	TotalMS           int `json:"total_ms"`
	// ToolRounds counts the rounds of calls. RoundsExhausted says that the model had used up the
	// rounds and had to answer without tools.
	ToolRounds      int  `json:"tool_rounds,omitempty"`
	RoundsExhausted bool `json:"tool_rounds_exhausted,omitempty"`
	// Incomplete is why a completed answer may lack something (ReasonMaxOutputTokens,
	// ReasonContentFilter or ReasonToolRounds of package turns); empty when it does not.
	Incomplete string `json:"incomplete,omitempty"`
	// Handover is HandoverRequested when the turn asked for a person, and HandoverOperator when one
	// had the conversation: Operator, and the model was not asked.
	Handover HandoverStatus `json:"handover,omitempty"`
	Operator string         `json:"operator,omitempty"`
}

// SpeechMetrics say how long the beginning of a spoken answer took, in milliseconds from the end of
// the user's speech.
type SpeechMetrics struct {
	// EndpointingMS is until the silence was believed to be the end, TranscriptMS until the words
	// were known.
	EndpointingMS int `json:"endpointing_ms"`
	TranscriptMS  int `json:"transcript_ms"`
	// FirstTokenMS is until the answer's first words, FirstAudioMS until its first sound was sent.
	FirstTokenMS int `json:"first_token_ms"`
	FirstAudioMS int `json:"first_audio_ms"`
}
