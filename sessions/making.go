package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
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

// making is what a runner notes for the receipt while it takes a turn. It is used by the runner's goroutine.
type ReceiptBuilder struct {
	// asked is when the turn was asked for.
	Asked  time.Time
	calls  []ReceiptModelCall
	stages []ReceiptStage
	Guards []ReceiptGuard
	// passages are those the model was given, history what of the earlier turns.
	Passages []Passage
	History  *ReceiptHistory
	Prices   *Prices
	// memoryRead and memoryWritten are ids of memories.
	MemoryRead, MemoryWritten []string
}

// stage notes a stage that began at a time and has just ended.
func (m *ReceiptBuilder) Stage(name string, begun, now time.Time) {
	m.stages = append(m.stages, ReceiptStage{Stage: name, StartMS: Milliseconds(begun.Sub(m.Asked)), DurationMS: Milliseconds(now.Sub(begun))})
}

// modelCall notes a call of a model.
func (m *ReceiptBuilder) ModelCall(provider string, req model.Request, result model.Result, err error, begun, first, now time.Time) {
	call := ReceiptModelCall{
		Provider: plain(result.Provider), Model: plain(result.Model), PromptHash: promptHash(req), Messages: len(req.Messages), Tools: len(req.Tools),
		StartMS: Milliseconds(begun.Sub(m.Asked)), DurationMS: Milliseconds(now.Sub(begun)),
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens, FinishReason: string(result.FinishReason),
		Attempts: []ReceiptAttempt{},
	}
	if len(result.Attempts) > 1 { // one alone says what the call says
		for _, a := range result.Attempts {
			call.Attempts = append(call.Attempts, ReceiptAttempt{Provider: plain(a.Provider), Model: plain(a.Model), ErrorCode: a.Reason, DurationMS: Milliseconds(a.Took)})
		}
	}
	if n := len(result.Attempts); n > 0 && call.Provider == "" {
		call.Provider = plain(result.Attempts[n-1].Provider)
	}
	if call.Provider == "" {
		call.Provider = provider
	}
	if call.Model == "" {
		call.Model = plain(req.Model)
	}
	if !first.IsZero() {
		call.FirstTokenMS = max(1, Milliseconds(first.Sub(begun)))
	}
	if err != nil {
		call.FinishReason, call.ErrorCode = "", string(errorReason(err))
	}
	m.calls = append(m.calls, call)
	m.Stage(stageModel, begun, now)
}

// errorReason is the code of an error in a receipt.
func errorReason(err error) fault.Reason { return postgres.Decide(err).Reason }

// receipt puts together what was noted and what the turn says itself.
func (m *ReceiptBuilder) receipt(turn Turn, session Session) Receipt {
	r := Receipt{
		Version: receiptVersion, TurnID: string(turn.ID), SessionID: string(turn.SessionID), WorkspaceID: string(turn.WorkspaceID),
		AgentID: string(session.AgentID), AgentVersion: session.AgentVersion, Index: turn.Index, BegunBy: "user",
		Status: string(turn.Status), ErrorCode: turn.ErrorCode, StartedAt: ReceiptTime{turn.StartedAt}, EndedAt: ReceiptTime{turn.EndedAt},
		ModelCalls: m.calls, Passages: receiptPassages(turn, m.Passages), ToolCalls: receiptCalls(turn, m.Asked),
		MemoryRead: append([]string{}, m.MemoryRead...), MemoryWritten: append([]string{}, m.MemoryWritten...), GuardVerdicts: m.Guards, History: m.History, Stages: m.stages,
		Usage: ReceiptUsage{InputTokens: turn.InputTokens, OutputTokens: turn.OutputTokens, Model: plain(turn.Model)},
		Cost:  m.Prices.cost(m.calls),
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

// promptHash is the SHA-256, in hex, of what a model is asked: each part as its name, its length in
// bytes and itself. Source: docs/receipts.md.
func promptHash(req model.Request) string {
	h := sha256.New()
	part(h, "system", req.System)
	for _, m := range req.Messages {
		part(h, string(m.Role), m.Text)
		for _, call := range m.ToolCalls {
			part(h, "call "+call.ID+" "+call.Name, call.Arguments)
		}
		if m.ToolCallID != "" {
			part(h, "result", m.ToolCallID)
		}
	}
	for _, tool := range req.Tools {
		part(h, "tool "+tool.Name, tool.Description)
		part(h, "schema", tool.InputSchema)
	}
	part(h, "model", req.Model)
	if req.Temperature != nil {
		part(h, "temperature", strconv.FormatFloat(*req.Temperature, 'f', -1, 64))
	}
	part(h, "max_output_tokens", strconv.Itoa(req.MaxOutputTokens))
	return hex.EncodeToString(h.Sum(nil))
}

// part adds one part to a prompt's hash.
func part[T ~string | ~[]byte](h hash.Hash, name string, text T) {
	_, _ = fmt.Fprintf(h, "%s %d\n%s\n", name, len(text), text) // a hash never fails
}

// Read notes that a memory was given to the model.
func (m *ReceiptBuilder) Read(memoryID string) {
	if !slices.Contains(m.MemoryRead, memoryID) {
		m.MemoryRead = append(m.MemoryRead, memoryID)
	}
}

// Wrote notes that a memory was written.
func (m *ReceiptBuilder) Wrote(memoryID string) {
	if !slices.Contains(m.MemoryWritten, memoryID) {
		m.MemoryWritten = append(m.MemoryWritten, memoryID)
	}
}
