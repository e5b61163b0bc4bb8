package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) GetTurnReceipt(ctx context.Context, req *parlancev1.GetTurnReceiptRequest) (*parlancev1.TurnReceipt, error) {
	receipt, hash, err := s.sessions.Receipt(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()),
		sessions.TurnID(req.GetTurnId()))
	return receiptProto(receipt, hash), err
}

// receiptProto must lose and add nothing: the hash is over the JSON of its result.
func receiptProto(r sessions.Receipt, hash string) *parlancev1.TurnReceipt {
	receipt := &parlancev1.TurnReceipt{
		Version: int32Of(r.Version), TurnId: r.TurnID, SessionId: r.SessionID, WorkspaceId: r.WorkspaceID,
		AgentId: r.AgentID, AgentVersion: int32Of(r.AgentVersion), Index: int32Of(r.Index), BegunBy: r.BegunBy,
		Status: r.Status, ErrorCode: r.ErrorCode, StartedAt: timestamp(r.StartedAt.Time), EndedAt: timestamp(r.EndedAt.Time),
		ModelCalls: each(r.ModelCalls, receiptModelCallProto), Passages: each(r.Passages, receiptPassageProto),
		ToolCalls: each(r.ToolCalls, receiptToolCallProto), MemoryRead: r.MemoryRead, MemoryWritten: r.MemoryWritten,
		GuardVerdicts: each(r.GuardVerdicts, func(g sessions.ReceiptGuard) *parlancev1.ReceiptGuard {
			return &parlancev1.ReceiptGuard{Guard: g.Guard, Verdict: g.Verdict, Subject: g.Subject, Rule: g.Rule}
		}),
		Stages: each(r.Stages, func(s sessions.ReceiptStage) *parlancev1.ReceiptStage {
			return &parlancev1.ReceiptStage{Stage: s.Stage, StartMs: int32Of(s.StartMS), DurationMs: int32Of(s.DurationMS)}
		}),
		Usage: &parlancev1.TurnUsage{
			InputTokens:  int32Of(r.Usage.InputTokens),
			OutputTokens: int32Of(r.Usage.OutputTokens), Model: r.Usage.Model,
		},
		Hash: hash,
	}
	if h := r.History; h != nil {
		receipt.History = &parlancev1.ReceiptHistory{
			Turns: int32Of(h.Turns), Tokens: int32Of(h.Tokens), SummarizedTurns: int32Of(h.SummarizedTurns), SummaryHash: h.SummaryHash,
		}
	}
	if r.Spilled {
		receipt.Spilled = &r.Spilled
	}
	if r.Cost != nil {
		receipt.Cost = &parlancev1.ReceiptCost{Amount: r.Cost.Amount, Currency: r.Cost.Currency}
	}
	return receipt
}

func receiptModelCallProto(c sessions.ReceiptModelCall) *parlancev1.ReceiptModelCall {
	return &parlancev1.ReceiptModelCall{
		Provider: c.Provider, Model: c.Model, PromptHash: c.PromptHash, Messages: int32Of(c.Messages), Tools: int32Of(c.Tools),
		StartMs: int32Of(c.StartMS), FirstTokenMs: int32Of(c.FirstTokenMS), DurationMs: int32Of(c.DurationMS),
		InputTokens: int32Of(c.InputTokens), OutputTokens: int32Of(c.OutputTokens), FinishReason: c.FinishReason, ErrorCode: c.ErrorCode,
		Attempts: each(c.Attempts, func(a sessions.ReceiptAttempt) *parlancev1.ReceiptAttempt {
			return &parlancev1.ReceiptAttempt{Provider: a.Provider, Model: a.Model, ErrorCode: a.ErrorCode, DurationMs: int32Of(a.DurationMS)}
		}),
	}
}

func receiptPassageProto(p sessions.ReceiptPassage) *parlancev1.ReceiptPassage {
	return &parlancev1.ReceiptPassage{
		SourceId: p.SourceID, SourceName: p.SourceName, ChunkId: p.ChunkID, TextHash: p.TextHash,
		CharStart: int32Of(p.CharStart), CharEnd: int32Of(p.CharEnd),
		PageStart: int32Of(p.PageStart), PageEnd: int32Of(p.PageEnd), Similarity: p.Similarity, Quoted: p.Quoted,
	}
}

func receiptToolCallProto(c sessions.ReceiptToolCall) *parlancev1.ReceiptToolCall {
	call := &parlancev1.ReceiptToolCall{
		Id: c.ID, ToolId: c.ToolID, Slug: c.Slug, ArgumentsHash: c.ArgumentsHash, OutputHash: c.OutputHash, Status: c.Status,
		ErrorCode: c.ErrorCode, StatusCode: int32Of(c.StatusCode), Attempts: int32Of(c.Attempts),
		StartMs: int32Of(c.StartMS), LatencyMs: int32Of(c.LatencyMS),
	}
	if c.Approval != nil {
		call.Approval = &parlancev1.ReceiptApproval{Status: c.Approval.Status, DecidedBy: c.Approval.DecidedBy}
	}
	return call
}
