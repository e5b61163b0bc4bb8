package sessions

import (
	"math"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
)

// The stages of a turn. Source: sessions.proto, ReceiptStage.
const (
	StageLease       = "lease"
	StageHistory     = "history"
	StageMemory      = "memory"
	StageRetrieval   = "retrieval"
	StageToolList    = "tool_list"
	StageModelQueue  = "model_queue"
	stageModel       = "model"
	StageTools       = "tools"
	StagePersistence = "persistence"
)

// ReceiptBuilder collects the contents of a receipt while a turn runs. Only the goroutine that runs
// the turn uses it.
type ReceiptBuilder struct {
	// AskedAt is when the turn was asked for.
	AskedAt time.Time
	calls   []ReceiptModelCall
	stages  []ReceiptStage
	Guards  []ReceiptGuard
	// Passages and History are what the model was given.
	Passages []Passage
	History  *ReceiptHistory
	Prices   *Prices
	// MemoryRead and MemoryWritten are ids of memories.
	MemoryRead, MemoryWritten []string
}

// Stage adds a stage that began at begun and ended now.
func (b *ReceiptBuilder) Stage(name string, begun, now time.Time) {
	b.stages = append(b.stages, ReceiptStage{Stage: name, StartMS: Milliseconds(begun.Sub(b.AskedAt)), DurationMS: Milliseconds(now.Sub(begun))})
}

// ModelCall adds a call of a model.
func (b *ReceiptBuilder) ModelCall(provider string, req model.Request, result model.Result, err error, begun, first, now time.Time) {
	call := ReceiptModelCall{
		Provider: cleanName(result.Provider), Model: cleanName(result.Model), PromptHash: promptHash(req),
		Messages: len(req.Messages), Tools: len(req.Tools),
		StartMS: Milliseconds(begun.Sub(b.AskedAt)), DurationMS: Milliseconds(now.Sub(begun)),
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens, FinishReason: string(result.FinishReason),
		Attempts: []ReceiptAttempt{},
	}
	if len(result.Attempts) > 1 { // a single attempt repeats the call
		for _, a := range result.Attempts {
			call.Attempts = append(call.Attempts, ReceiptAttempt{
				Provider: cleanName(a.Provider), Model: cleanName(a.Model), ErrorCode: a.Reason, DurationMS: Milliseconds(a.Took),
			})
		}
	}
	if n := len(result.Attempts); n > 0 && call.Provider == "" {
		call.Provider = cleanName(result.Attempts[n-1].Provider)
	}
	if call.Provider == "" {
		call.Provider = provider
	}
	if call.Model == "" {
		call.Model = cleanName(req.Model)
	}
	if !first.IsZero() {
		call.FirstTokenMS = max(1, Milliseconds(first.Sub(begun)))
	}
	if err != nil {
		call.FinishReason, call.ErrorCode = "", string(errorReason(err))
	}
	b.calls = append(b.calls, call)
	b.Stage(stageModel, begun, now)
}

// Read adds a memory that the model was given.
func (b *ReceiptBuilder) Read(memoryID string) {
	if !slices.Contains(b.MemoryRead, memoryID) {
		b.MemoryRead = append(b.MemoryRead, memoryID)
	}
}

// Wrote adds a memory that was written.
func (b *ReceiptBuilder) Wrote(memoryID string) {
	if !slices.Contains(b.MemoryWritten, memoryID) {
		b.MemoryWritten = append(b.MemoryWritten, memoryID)
	}
}

// SetReceipt sets the receipt of a finished turn. made is what the runner collected; nil for a turn
// that no runner finished.
func (t *Turn) SetReceipt(session Session, made *ReceiptBuilder) {
	if made == nil {
		made = &ReceiptBuilder{AskedAt: t.StartedAt}
	}
	receipt := made.receipt(*t, session)
	canonical, err := receipt.Canonical()
	if err != nil { // strings and integers always encode
		panic(err)
	}
	t.Receipt, t.ReceiptHash = canonical, HashOf(canonical)
}

// receipt combines what was collected with what the turn itself says.
func (b *ReceiptBuilder) receipt(turn Turn, session Session) Receipt {
	r := Receipt{
		Version: receiptVersion, TurnID: string(turn.ID), SessionID: string(turn.SessionID), WorkspaceID: string(turn.WorkspaceID),
		AgentID: string(session.AgentID), AgentVersion: session.AgentVersion, Index: turn.Index, BegunBy: "user",
		Status: string(turn.Status), ErrorCode: turn.ErrorCode, StartedAt: ReceiptTime{turn.StartedAt}, EndedAt: ReceiptTime{turn.EndedAt},
		ModelCalls: b.calls, Passages: receiptPassages(turn, b.Passages), ToolCalls: receiptCalls(turn, b.AskedAt),
		MemoryRead: append([]string{}, b.MemoryRead...), MemoryWritten: append([]string{}, b.MemoryWritten...),
		GuardVerdicts: b.Guards, History: b.History, Stages: b.stages,
		Usage: ReceiptUsage{InputTokens: turn.InputTokens, OutputTokens: turn.OutputTokens, Model: cleanName(turn.Model)},
		Cost:  b.Prices.cost(b.calls),
	}
	if turn.UserText == "" && len(turn.Messages) > 0 && turn.Messages[0].Role == RoleAssistant {
		r.BegunBy = "agent"
	}
	if r.ModelCalls == nil {
		r.ModelCalls = []ReceiptModelCall{}
	}
	if r.GuardVerdicts == nil {
		r.GuardVerdicts = []ReceiptGuard{}
	}
	if r.Stages == nil {
		r.Stages = []ReceiptStage{}
	}
	return r
}

// receiptCalls returns the turn's calls of tools, in order.
func receiptCalls(turn Turn, asked time.Time) []ReceiptToolCall {
	calls := []ReceiptToolCall{}
	at := map[string]int{}
	for _, m := range turn.Messages {
		for _, call := range m.Calls {
			at[call.ID] = len(calls)
			calls = append(calls, ReceiptToolCall{
				ID: call.ID, ToolID: cleanName(call.clientTool()), Slug: cleanName(call.Name),
				ArgumentsHash: HashOf(call.Arguments), Status: callWaiting,
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
		c.OutputHash, c.ErrorCode, c.StatusCode = HashOf(m.Text), result.ErrorCode, result.StatusCode
		c.Attempts, c.LatencyMS = result.Attempts, result.LatencyMS
		if result.Approval != nil {
			c.Approval = &ReceiptApproval{DecidedBy: result.Approval.DecidedBy, Status: string(result.Approval.Status)}
		}
		if !result.StartedAt.IsZero() {
			c.StartMS = Milliseconds(result.StartedAt.Sub(asked))
		}
		c.Status = callOutcome(c.ToolID, *result)
	}
	return calls
}

// receiptPassages returns the turn's citations with the places and hashes of their passages.
func receiptPassages(turn Turn, passages []Passage) []ReceiptPassage {
	made := make([]ReceiptPassage, len(turn.Citations))
	for i, c := range turn.Citations {
		made[i] = ReceiptPassage{
			SourceID: c.SourceID, SourceName: cleanName(c.SourceName), ChunkID: c.ChunkID, PageStart: c.PageStart, PageEnd: c.PageEnd,
			Similarity: roundTo4(c.Similarity), Quoted: c.Quoted,
		}
		if i < len(passages) {
			made[i].CharStart, made[i].CharEnd, made[i].TextHash = passages[i].CharStart, passages[i].CharEnd, HashOf(passages[i].Text)
		}
	}
	return made
}

// errorReason returns the code of an error in a receipt.
func errorReason(err error) fault.Reason { return postgres.Decide(err).Reason }

// unicodeLineEnds replaces the line separators U+2028 and U+2029 by spaces.
var unicodeLineEnds = strings.NewReplacer("\u2028", " ", "\u2029", " ")

// cleanName returns a name without invalid UTF-8 and without U+2028 and U+2029, which encoders of
// JSON write in different ways.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "�")
	if !strings.ContainsRune(name, '\u2028') && !strings.ContainsRune(name, '\u2029') { // nearly always; a Replacer would copy the name
		return name
	}
	return unicodeLineEnds.Replace(name)
}

// roundTo4 rounds a number to four decimals, so that every language writes it the same way.
func roundTo4(x float64) float64 { return math.Round(x*10_000) / 10_000 }
