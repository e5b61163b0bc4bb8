package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
)

// The stages of a turn. Source: sessions.proto, ReceiptStage.
const (
	stageLease       = "lease"
	stageHistory     = "history"
	stageMemory      = "memory"
	stageRetrieval   = "retrieval"
	stageToolList    = "tool_list"
	stageModelQueue  = "model_queue"
	stageModel       = "model"
	stageTools       = "tools"
	stagePersistence = "persistence"
)

// making is what a runner notes for the receipt while it takes a turn. It is used by the runner's goroutine.
type making struct {
	// asked is when the turn was asked for.
	asked  time.Time
	calls  []ReceiptModelCall
	stages []ReceiptStage
	guards []ReceiptGuard
	// passages are those the model was given, history what of the earlier turns.
	passages []Passage
	history  *ReceiptHistory
	prices   *Prices
	// memoryRead and memoryWritten are ids of memories.
	memoryRead, memoryWritten []string
}

// stage notes a stage that began at a time and has just ended.
func (m *making) stage(name string, begun, now time.Time) {
	m.stages = append(m.stages, ReceiptStage{Stage: name, StartMS: milliseconds(begun.Sub(m.asked)), DurationMS: milliseconds(now.Sub(begun))})
}

// modelCall notes a call of a model.
func (m *making) modelCall(provider string, req model.Request, result model.Result, err error, begun, first, now time.Time) {
	call := ReceiptModelCall{
		Provider: plain(result.Provider), Model: plain(result.Model), PromptHash: promptHash(req), Messages: len(req.Messages), Tools: len(req.Tools),
		StartMS: milliseconds(begun.Sub(m.asked)), DurationMS: milliseconds(now.Sub(begun)),
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens, FinishReason: string(result.FinishReason),
		Attempts: []ReceiptAttempt{},
	}
	if len(result.Attempts) > 1 { // one alone says what the call says
		for _, a := range result.Attempts {
			call.Attempts = append(call.Attempts, ReceiptAttempt{Provider: plain(a.Provider), Model: plain(a.Model), ErrorCode: a.Reason, DurationMS: milliseconds(a.Took)})
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
		call.FirstTokenMS = max(1, milliseconds(first.Sub(begun)))
	}
	if err != nil {
		call.FinishReason, call.ErrorCode = "", string(errorReason(err))
	}
	m.calls = append(m.calls, call)
	m.stage(stageModel, begun, now)
}

// errorReason is the code of an error in a receipt.
func errorReason(err error) fault.Reason { return postgres.Decide(err).Reason }

// receipt puts together what was noted and what the turn says itself.
func (m *making) receipt(turn Turn, session Session) Receipt {
	r := Receipt{
		Version: receiptVersion, TurnID: string(turn.ID), SessionID: string(turn.SessionID), WorkspaceID: string(turn.WorkspaceID),
		AgentID: string(session.AgentID), AgentVersion: session.AgentVersion, Index: turn.Index, BegunBy: "user",
		Status: string(turn.Status), ErrorCode: turn.ErrorCode, StartedAt: receiptTime{turn.StartedAt}, EndedAt: receiptTime{turn.EndedAt},
		ModelCalls: m.calls, Passages: receiptPassages(turn, m.passages), ToolCalls: receiptCalls(turn, m.asked),
		MemoryRead: append([]string{}, m.memoryRead...), MemoryWritten: append([]string{}, m.memoryWritten...), GuardVerdicts: m.guards, History: m.history, Stages: m.stages,
		Usage: ReceiptUsage{InputTokens: turn.InputTokens, OutputTokens: turn.OutputTokens, Model: plain(turn.Model)},
		Cost:  m.prices.cost(m.calls),
	}
	if turn.UserText == "" && len(turn.Messages) > 0 && turn.Messages[0].Role == roleAssistant {
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
