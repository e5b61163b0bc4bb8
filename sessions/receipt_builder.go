package sessions

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/usage"
)

// The stages of a turn. Source: sessions.proto, ReceiptStage.
const (
	StageEndpointing = "endpointing"
	StageTranscript  = "transcript"
	StageLease       = "lease"
	StageHistory     = "history"
	StageMemory      = "memory"
	StageRetrieval   = "retrieval"
	StageToolList    = "tool_list"
	StageModelQueue  = "model_queue"
	stageModel       = "model"
	stageJudge       = "judge"
	StageTools       = "tools"
	StagePersistence = "persistence"
)

// ReceiptBuilder collects the contents of a receipt while a turn runs. Only the goroutine that runs
// the turn uses it.
type ReceiptBuilder struct {
	// AskedAt is when the turn was requested.
	AskedAt time.Time
	calls   []ReceiptModelCall
	stages  []ReceiptStage
	Guards  []ReceiptGuard
	// Passages and History are what the model was given.
	Passages []Passage
	History  *ReceiptHistory
	Prices   *usage.Prices
	// MemoryRead and MemoryWritten are ids of memories.
	MemoryRead, MemoryWritten []string
	// ToolsLeftOut are the attached tools of which the model was offered nothing.
	ToolsLeftOut []ReceiptToolLeftOut
}

// Stage adds a stage that began at begun and ended now.
func (b *ReceiptBuilder) Stage(name string, begun, now time.Time) {
	b.stages = append(b.stages, ReceiptStage{
		Stage: name, StartMS: Milliseconds(begun.Sub(b.AskedAt)), DurationMS: Milliseconds(now.Sub(begun)),
	})
}

// NewModelCall returns a call of a model with everything but its times and its error. Provider and
// Model are what answered: the request may leave both to the installation, and a fallback may have
// answered. provider is used where the result names none.
func NewModelCall(provider string, req model.Request, result model.Result) ReceiptModelCall {
	call := ReceiptModelCall{
		Provider: cleanName(result.Provider), Model: cleanName(result.Model), PromptHash: req.Hash(),
		Messages: len(req.Messages), Tools: len(req.Tools),
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens, FinishReason: string(result.FinishReason),
		Estimated: result.Usage.Estimated, Attempts: []ReceiptAttempt{},
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
	call.Provider, call.Model = cmp.Or(call.Provider, provider), cmp.Or(call.Model, cleanName(req.Model))
	return call
}

// ModelCall adds a call of a model.
func (b *ReceiptBuilder) ModelCall(provider string, req model.Request, result model.Result, err error, begun, first, now time.Time) {
	call := NewModelCall(provider, req, result)
	call.StartMS, call.DurationMS = Milliseconds(begun.Sub(b.AskedAt)), Milliseconds(now.Sub(begun))
	if !first.IsZero() {
		call.FirstTokenMS = max(1, Milliseconds(first.Sub(begun)))
	}
	if err != nil {
		call.FinishReason, call.ErrorCode = "", string(postgres.Decide(err).Reason)
	}
	b.calls = append(b.calls, call)
	b.Stage(stageModel, begun, now)
}

// JudgeCall adds a call of a model as the judge of guards.
func (b *ReceiptBuilder) JudgeCall(req model.Request, result model.Result, err error, begun, now time.Time) {
	b.ModelCall("", req, result, err, begun, time.Time{}, now)
	b.calls[len(b.calls)-1].Purpose = purposeJudge
	b.stages[len(b.stages)-1].Stage = stageJudge
}

// ModelCalls are the calls so far.
func (b *ReceiptBuilder) ModelCalls() []ReceiptModelCall { return b.calls }

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

// SetReceipt sets the receipt of a finished turn. Its hashes are those of what is stored. collected
// is what the runner collected; nil for a turn that no runner finished.
func (t *Turn) SetReceipt(session Session, collected *ReceiptBuilder) {
	if collected == nil {
		collected = &ReceiptBuilder{AskedAt: t.StartedAt}
	}
	receipt := collected.receipt(t.Redacted(session.Redactor()), session)
	canonical, err := receipt.Canonical()
	if err != nil { // strings and integers always encode
		panic(err)
	}
	t.Receipt, t.ReceiptHash = canonical, HashOf(canonical)
}

// receipt combines what the builder collected with the turn's own fields.
func (b *ReceiptBuilder) receipt(turn Turn, session Session) Receipt {
	r := Receipt{
		Version: receiptVersion, TurnID: string(turn.ID), SessionID: string(turn.SessionID), WorkspaceID: string(turn.WorkspaceID),
		AgentID: string(session.AgentID), AgentVersion: session.AgentVersion, DraftRevision: session.DraftRevision,
		Index: turn.Index, BegunBy: "user", Spilled: turn.Journalled,
		Status: string(turn.Status), ErrorCode: turn.ErrorCode, StartedAt: ReceiptTime{turn.StartedAt}, EndedAt: ReceiptTime{turn.EndedAt},
		ModelCalls: append([]ReceiptModelCall{}, b.calls...), Passages: receiptPassages(turn, b.Passages),
		ToolCalls:  receiptCalls(turn, b.AskedAt),
		MemoryRead: append([]string{}, b.MemoryRead...), MemoryWritten: append([]string{}, b.MemoryWritten...),
		GuardVerdicts: append([]ReceiptGuard{}, b.Guards...), History: b.History, Stages: append([]ReceiptStage{}, b.stages...),
		Usage: ReceiptUsage{InputTokens: turn.InputTokens, OutputTokens: turn.OutputTokens, Model: cleanName(turn.Model)},
		Cost:  b.cost(),
	}
	if len(b.ToolsLeftOut) > 0 {
		r.ToolsLeftOut = &ReceiptToolsLeftOut{Tools: b.ToolsLeftOut}
	}
	if session.Redactor().Redacts() { // words that are not stored could be guessed by their hash
		for i := range r.ModelCalls {
			r.ModelCalls[i].PromptHash = ""
		}
	}
	if turn.UserText == "" && len(turn.Messages) > 0 && turn.Messages[0].Role == RoleAssistant {
		r.BegunBy = "agent"
	}
	if len(turn.Messages) > 0 && turn.Messages[0].Role == RoleOperator {
		r.BegunBy = RoleOperator
	}
	return r
}

// cost returns what the calls of models cost; nil when that is not known.
func (b *ReceiptBuilder) cost() *ReceiptCost {
	calls := make([]usage.Call, len(b.calls))
	for i, call := range b.calls {
		calls[i] = usage.Call{Model: call.Provider + "/" + call.Model, Input: call.InputTokens, Output: call.OutputTokens}
	}
	amount := b.Prices.Sum(calls)
	if amount == "" {
		return nil
	}
	return &ReceiptCost{Amount: amount, Currency: b.Prices.Currency()}
}

// receiptCalls returns Turn.ToolCalls as the receipt has them.
func receiptCalls(turn Turn, asked time.Time) []ReceiptToolCall {
	calls := []ReceiptToolCall{}
	for _, call := range turn.ToolCalls() {
		c := ReceiptToolCall{
			ID: call.ID, ToolID: cleanName(call.ToolID), Slug: cleanName(call.Name), ArgumentsHash: HashOf(call.Arguments), Status: callWaiting,
		}
		if call.Settled {
			c.Status, c.OutputHash = callOutcome(call.ToolID, call.CallResult), HashOf(call.Output)
			c.ErrorCode, c.StatusCode, c.Attempts, c.LatencyMS = call.ErrorCode, call.StatusCode, call.Attempts, call.LatencyMS
			if call.Approval != nil {
				c.Approval = &ReceiptApproval{DecidedBy: call.Approval.DecidedBy, Status: string(call.Approval.Status)}
			}
			if !call.StartedAt.IsZero() {
				c.StartMS = Milliseconds(call.StartedAt.Sub(asked))
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// receiptPassages returns the turn's citations with the places and hashes of their passages.
func receiptPassages(turn Turn, passages []Passage) []ReceiptPassage {
	all := make([]ReceiptPassage, len(turn.Citations))
	for i, c := range turn.Citations {
		all[i] = ReceiptPassage{
			SourceID: c.SourceID, SourceName: cleanName(c.SourceName), ChunkID: c.ChunkID, PageStart: c.PageStart, PageEnd: c.PageEnd,
			Similarity: roundTo4(c.Similarity), Quoted: c.Quoted,
		}
		if i < len(passages) {
			all[i].CharStart, all[i].CharEnd, all[i].TextHash = passages[i].CharStart, passages[i].CharEnd, HashOf(passages[i].Text)
		}
	}
	return all
}

// unicodeLineEnds replaces the line separators U+2028 and U+2029 by spaces.
var unicodeLineEnds = strings.NewReplacer("\u2028", " ", "\u2029", " ")

// cleanName returns a name without invalid UTF-8 and without U+2028 and U+2029, which encoders of
// JSON write in different ways.
func cleanName(name string) string {
	return unicodeLineEnds.Replace(strings.ToValidUTF8(name, "�"))
}

// roundTo4 rounds a number to four decimals, so that every language writes it the same way.
func roundTo4(x float64) float64 { return math.Round(x*10_000) / 10_000 }
