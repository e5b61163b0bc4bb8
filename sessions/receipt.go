package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// receiptVersion is the version of the layout. A new field must be omitted where it is empty:
// otherwise the hash of an older receipt could not be computed again.
const receiptVersion = 1

// Receipt records what went into a turn, by ids, counts and hashes, without any text of the
// conversation. It is written in the statement that finishes its turn, and deleted with the turn.
//
// Its JSON is canonical (RFC 8785): the fields of each struct are in the order of their names,
// numbers are integers or have at most four decimals. The bytes that were hashed are the bytes that
// are stored. Source of the fields: sessions.proto.
type Receipt struct {
	AgentID       string               `json:"agent_id"`
	AgentVersion  int                  `json:"agent_version"`
	BegunBy       string               `json:"begun_by"`
	Cost          *ReceiptCost         `json:"cost,omitempty"`
	DraftRevision int                  `json:"draft_revision,omitempty"`
	EndedAt       ReceiptTime          `json:"ended_at"`
	ErrorCode     string               `json:"error_code"`
	GuardVerdicts []ReceiptGuard       `json:"guard_verdicts"`
	History       *ReceiptHistory      `json:"history,omitempty"`
	Index         int                  `json:"index"`
	MemoryRead    []string             `json:"memory_read"`
	MemoryWritten []string             `json:"memory_written"`
	ModelCalls    []ReceiptModelCall   `json:"model_calls"`
	Passages      []ReceiptPassage     `json:"passages"`
	SessionID     string               `json:"session_id"`
	Spilled       bool                 `json:"spilled,omitempty"`
	Stages        []ReceiptStage       `json:"stages"`
	StartedAt     ReceiptTime          `json:"started_at"`
	Status        string               `json:"status"`
	ToolCalls     []ReceiptToolCall    `json:"tool_calls"`
	ToolsLeftOut  *ReceiptToolsLeftOut `json:"tools_left_out,omitempty"`
	TurnID        string               `json:"turn_id"`
	Usage         ReceiptUsage         `json:"usage"`
	Version       int                  `json:"version"`
	WorkspaceID   string               `json:"workspace_id"`
}

// ReceiptModelCall is one call of a model. Times are in milliseconds; StartMS counts from the time
// at which the turn was requested.
type ReceiptModelCall struct {
	Attempts     []ReceiptAttempt `json:"attempts"`
	DurationMS   int              `json:"duration_ms"`
	ErrorCode    string           `json:"error_code"`
	Estimated    bool             `json:"estimated,omitempty"`
	FinishReason string           `json:"finish_reason"`
	FirstTokenMS int              `json:"first_token_ms"`
	InputTokens  int              `json:"input_tokens"`
	Messages     int              `json:"messages"`
	Model        string           `json:"model"`
	OutputTokens int              `json:"output_tokens"`
	PromptHash   string           `json:"prompt_hash"`
	Provider     string           `json:"provider"`
	Purpose      string           `json:"purpose,omitempty"`
	StartMS      int              `json:"start_ms"`
	Tools        int              `json:"tools"`
}

// purposeJudge is the purpose of a call of a model as the judge of guards.
const purposeJudge = "judge"

// ReceiptAttempt is one provider that was tried.
type ReceiptAttempt struct {
	DurationMS int    `json:"duration_ms"`
	ErrorCode  string `json:"error_code"`
	Model      string `json:"model"`
	Provider   string `json:"provider"`
}

// ReceiptPassage is a passage that the model was given.
type ReceiptPassage struct {
	CharEnd    int     `json:"char_end"`
	CharStart  int     `json:"char_start"`
	ChunkID    string  `json:"chunk_id"`
	PageEnd    int     `json:"page_end"`
	PageStart  int     `json:"page_start"`
	Quoted     bool    `json:"quoted"`
	Similarity float64 `json:"similarity"`
	SourceID   string  `json:"source_id"`
	SourceName string  `json:"source_name"`
	TextHash   string  `json:"text_hash"`
}

// ReceiptToolCall is a call of a tool.
type ReceiptToolCall struct {
	Approval      *ReceiptApproval `json:"approval,omitempty"`
	ArgumentsHash string           `json:"arguments_hash"`
	Attempts      int              `json:"attempts"`
	ErrorCode     string           `json:"error_code"`
	ID            string           `json:"id"`
	LatencyMS     int              `json:"latency_ms"`
	OutputHash    string           `json:"output_hash"`
	Slug          string           `json:"slug"`
	StartMS       int              `json:"start_ms"`
	Status        string           `json:"status"`
	StatusCode    int              `json:"status_code"`
	ToolID        string           `json:"tool_id"`
}

// ReceiptToolsLeftOut is the attached tools of which the model was offered nothing.
type ReceiptToolsLeftOut struct {
	Tools []ReceiptToolLeftOut `json:"tools"`
}

// ReceiptToolLeftOut is a tool that is attached and on, and was left out of the turn.
type ReceiptToolLeftOut struct {
	Reason string `json:"reason"`
	Slug   string `json:"slug"`
	ToolID string `json:"tool_id"`
}

// ReceiptApproval is the answer to a request for approval.
type ReceiptApproval struct {
	DecidedBy string `json:"decided_by"`
	Status    string `json:"status"`
}

// ReceiptGuard is what a guard decided.
type ReceiptGuard struct {
	Guard   string `json:"guard"`
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Verdict string `json:"verdict"`
}

// ReceiptHistory is how much of the earlier turns the model was given.
type ReceiptHistory struct {
	SummarizedTurns int    `json:"summarized_turns"`
	SummaryHash     string `json:"summary_hash"`
	Tokens          int    `json:"tokens"`
	Turns           int    `json:"turns"`
}

// ReceiptStage is the time that one stage of a turn took.
type ReceiptStage struct {
	DurationMS int    `json:"duration_ms"`
	Stage      string `json:"stage"`
	StartMS    int    `json:"start_ms"`
}

// ReceiptUsage counts tokens.
type ReceiptUsage struct {
	InputTokens  int    `json:"input_tokens"`
	Model        string `json:"model"`
	OutputTokens int    `json:"output_tokens"`
}

// ReceiptCost is what the calls of models cost.
type ReceiptCost struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// ReceiptTime is a time as protobuf's JSON writes it: UTC, with no, three or six decimals.
type ReceiptTime struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t ReceiptTime) MarshalJSON() ([]byte, error) {
	layout := `"2006-01-02T15:04:05.000000Z"`
	switch nanos := t.Nanosecond(); {
	case nanos == 0:
		layout = `"2006-01-02T15:04:05Z"`
	case nanos%1_000_000 == 0:
		layout = `"2006-01-02T15:04:05.000Z"`
	}
	return t.UTC().AppendFormat(nil, layout), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *ReceiptTime) UnmarshalJSON(text []byte) error {
	var at time.Time
	if err := json.Unmarshal(text, &at); err != nil {
		return fmt.Errorf("reading a receipt's time: %w", err)
	}
	t.Time = at.UTC()
	return nil
}

// Canonical returns the receipt as it is stored and hashed. Error: a number is not finite.
func (r *Receipt) Canonical() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a receipt: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
