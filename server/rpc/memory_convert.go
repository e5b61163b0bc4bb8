package rpc

import (
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/workspaces"
)

func addMemoryParams(req *parlancev1.AddMemoryRequest) memory.AddParams {
	p := memory.AddParams{
		UserID: req.GetUserId(), Kind: memory.Kind(req.GetKind()), Text: req.GetText(), Category: req.GetCategory(),
		Attribute: req.GetAttribute(),
		Tags:      req.GetTags(), Confidence: 1, ExpiresAt: microseconds(timeOf(req.GetExpiresAt())), CreatedBy: memory.ByOperator,
	}
	if req.Confidence != nil {
		p.Confidence = req.GetConfidence()
	}
	return p
}

func updateMemoryParams(req *parlancev1.UpdateMemoryRequest) memory.UpdateParams {
	mask := req.GetUpdateMask()
	p := memory.UpdateParams{
		Text: changed(mask, "text", req.Text), Category: changed(mask, "category", req.Category),
		Attribute: changed(mask, "attribute", req.Attribute), Tags: changedList(mask, "tags", req.GetTags()),
		Confidence: changed(mask, "confidence", req.Confidence),
	}
	if sent(mask, "expires_at", req.GetExpiresAt() != nil) {
		p.ExpiresAt = new(microseconds(timeOf(req.GetExpiresAt())))
	}
	return p
}

// microseconds truncates a time to the precision of Postgres.
func microseconds(t time.Time) time.Time { return t.Truncate(time.Microsecond) }

func memoryProto(i memory.Item) *parlancev1.Memory {
	return &parlancev1.Memory{
		Id: string(i.ID), WorkspaceId: string(i.WorkspaceID), UserId: i.UserID, Kind: string(i.Kind), Status: string(i.Status), Text: i.Text,
		Category: i.Category, Attribute: i.Attribute, Tags: i.Tags, Confidence: i.Confidence, CreatedBy: i.CreatedBy, AgentId: i.AgentID,
		SessionId: i.SessionID, TurnId: i.TurnID, SupersededBy: string(i.SupersededBy), ExpiresAt: timestamp(i.ExpiresAt),
		CreatedAt: timestamp(i.CreatedAt), UpdatedAt: timestamp(i.UpdatedAt), EmbeddingModel: i.EmbeddingModel,
	}
}

func foundMemoryProto(f memory.Found) *parlancev1.FoundMemory {
	return &parlancev1.FoundMemory{Memory: memoryProto(f.Item), Similarity: f.Similarity, Score: f.Score}
}

func userProto(ref workspaces.Ref, u memory.User) *parlancev1.User {
	return &parlancev1.User{
		WorkspaceId: string(ref.ID), UserId: u.UserID, FirstSeenAt: timestamp(u.FirstSeenAt), LastSeenAt: timestamp(u.LastSeenAt),
		Sessions: int32(u.Sessions), Turns: int32(u.Turns), InputTokens: float64(u.InputTokens),
		OutputTokens: float64(u.OutputTokens), Memories: int32(u.Memories),
	}
}
