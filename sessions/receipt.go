package sessions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"parlance.dev/parlance/tools"
)

// A receipt says what a turn was made of, by ids, counts and hashes; no word of the conversation is
// in it. It is written in the statement that finishes its turn, and goes with it. Its JSON is
// canonical (RFC 8785): the fields of each struct stand in the order of their names, numbers are
// integers or have at most four decimals. What it was hashed as is what is stored.

// receiptVersion is the layout's. New fields must be left out of older receipts, or their hashes
// would not be found again.
const receiptVersion = 1

// Receipt is what a turn was made of. Source of the fields: sessions.proto.
type Receipt struct {
	AgentID       string             `json:"agent_id"`
	AgentVersion  int                `json:"agent_version"`
	BegunBy       string             `json:"begun_by"`
	Cost          *ReceiptCost       `json:"cost,omitempty"`
	EndedAt       ReceiptTime        `json:"ended_at"`
	ErrorCode     string             `json:"error_code"`
	GuardVerdicts []ReceiptGuard     `json:"guard_verdicts"`
	History       *ReceiptHistory    `json:"history,omitempty"`
	Index         int                `json:"index"`
	MemoryRead    []string           `json:"memory_read"`
	MemoryWritten []string           `json:"memory_written"`
	ModelCalls    []ReceiptModelCall `json:"model_calls"`
	Passages      []ReceiptPassage   `json:"passages"`
	SessionID     string             `json:"session_id"`
	Spilled       bool               `json:"spilled,omitempty"`
	Stages        []ReceiptStage     `json:"stages"`
	StartedAt     ReceiptTime        `json:"started_at"`
	Status        string             `json:"status"`
	ToolCalls     []ReceiptToolCall  `json:"tool_calls"`
	TurnID        string             `json:"turn_id"`
	Usage         ReceiptUsage       `json:"usage"`
	Version       int                `json:"version"`
	WorkspaceID   string             `json:"workspace_id"`
}

// ReceiptModelCall is one call of a model. Times are in milliseconds; starts since the turn was asked for.
type ReceiptModelCall struct {
	Attempts     []ReceiptAttempt `json:"attempts"`
	DurationMS   int              `json:"duration_ms"`
	ErrorCode    string           `json:"error_code"`
	FinishReason string           `json:"finish_reason"`
	FirstTokenMS int              `json:"first_token_ms"`
	InputTokens  int              `json:"input_tokens"`
	Messages     int              `json:"messages"`
	Model        string           `json:"model"`
	OutputTokens int              `json:"output_tokens"`
	PromptHash   string           `json:"prompt_hash"`
	Provider     string           `json:"provider"`
	StartMS      int              `json:"start_ms"`
	Tools        int              `json:"tools"`
}

// ReceiptAttempt is a provider that was tried.
type ReceiptAttempt struct {
	DurationMS int    `json:"duration_ms"`
	ErrorCode  string `json:"error_code"`
	Model      string `json:"model"`
	Provider   string `json:"provider"`
}

// ReceiptPassage is a passage the model was given.
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

// ReceiptApproval is who allowed a call, or did not.
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

// ReceiptHistory is what of the earlier turns the model was given.
type ReceiptHistory struct {
	SummarizedTurns int    `json:"summarized_turns"`
	SummaryHash     string `json:"summary_hash"`
	Tokens          int    `json:"tokens"`
	Turns           int    `json:"turns"`
}

// ReceiptStage is where time went.
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

// ReceiptCost is what the calls of the model cost.
type ReceiptCost struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// receiptTime is a time as protobuf's JSON writes it: UTC, with no, three or six decimals.
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

// The states of a call in a receipt.
const (
	callSucceeded = "succeeded"
	callFailed    = "failed"
	callRefused   = "refused"
	callUnknown   = "unknown"
	callWaiting   = "waiting"
)

// canonical is the receipt as it is stored and hashed. Error: a number is not finite.
func (r *Receipt) Canonical() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a receipt: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// putReceipt writes the receipt of a turn that is finished into it. made is what its runner noted;
// nil for a turn that had none to the end.
func (t *Turn) PutReceipt(session Session, made *ReceiptBuilder) {
	if made == nil {
		made = &ReceiptBuilder{Asked: t.StartedAt}
	}
	receipt := made.receipt(*t, session)
	canonical, err := receipt.Canonical()
	if err != nil { // strings and integers: it cannot be
		panic(err)
	}
	t.Receipt, t.ReceiptHash = canonical, HashOf(canonical)
}

// hashOf is a SHA-256 in hex.
func HashOf[T ~string | ~[]byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// unicodeLineEnds are taken for spaces.
var unicodeLineEnds = strings.NewReplacer("\u2028", " ", "\u2029", " ")

// plain is a name without the separators that encoders of JSON disagree about.
func plain(name string) string {
	name = strings.ToValidUTF8(name, "�")
	if !strings.ContainsRune(name, '\u2028') && !strings.ContainsRune(name, '\u2029') { // as nearly always: a Replacer copies all the same
		return name
	}
	return unicodeLineEnds.Replace(name)
}

// decimals4 keeps a number short enough to be written alike in every language.
func decimals4(x float64) float64 { return math.Round(x*10_000) / 10_000 }

func receiptCalls(turn Turn, asked time.Time) []ReceiptToolCall {
	calls := []ReceiptToolCall{}
	at := map[string]int{}
	for _, m := range turn.Messages {
		for _, call := range m.Calls {
			at[call.ID] = len(calls)
			calls = append(calls, ReceiptToolCall{
				ID: call.ID, ToolID: plain(call.clientTool()), Slug: plain(call.Name), ArgumentsHash: HashOf(call.Arguments), Status: callWaiting,
			})
		}
		i, ok := at[m.CallID]
		if m.Role != RoleTool || !ok || m.Result == nil {
			continue
		}
		c, result := &calls[i], m.Result
		if result.ToolID != "" {
			c.ToolID = result.ToolID
		}
		c.OutputHash, c.ErrorCode, c.StatusCode, c.Attempts, c.LatencyMS = HashOf(m.Text), result.ErrorCode, result.StatusCode, result.Attempts, result.LatencyMS
		if result.Approval != nil {
			c.Approval = &ReceiptApproval{DecidedBy: result.Approval.DecidedBy, Status: string(result.Approval.Status)}
		}
		if !result.StartedAt.IsZero() {
			c.StartMS = Milliseconds(result.StartedAt.Sub(asked))
		}
		c.Status = outcome(c.ToolID, *result)
	}
	return calls
}

// outcome is what became of a call of a tool that has this result.
func outcome(toolID string, result CallResult) string {
	client := strings.HasPrefix(toolID, tools.ClientPrefix)
	switch {
	case result.ErrorCode == "":
		return callSucceeded
	case result.ErrorCode == CodeUnknown, client && result.ErrorCode == string(CodeClientTimeout): // it was asked, and has not answered
		return callUnknown
	case client:
		return callFailed
	case result.Attempts == 0 && result.StatusCode == 0:
		return callRefused
	}
	return callFailed
}

func receiptPassages(turn Turn, passages []Passage) []ReceiptPassage {
	made := make([]ReceiptPassage, len(turn.Citations))
	for i, c := range turn.Citations {
		made[i] = ReceiptPassage{
			SourceID: c.SourceID, SourceName: plain(c.SourceName), ChunkID: c.ChunkID, PageStart: c.PageStart, PageEnd: c.PageEnd,
			Similarity: decimals4(c.Similarity), Quoted: c.Quoted,
		}
		if i < len(passages) {
			made[i].CharStart, made[i].CharEnd, made[i].TextHash = passages[i].CharStart, passages[i].CharEnd, HashOf(passages[i].Text)
		}
	}
	return made
}
