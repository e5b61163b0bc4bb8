package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"math"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/workspaces"
)

func createSessionParams(req *parlancev1.CreateSessionRequest) sessions.CreateParams {
	return sessions.CreateParams{
		AgentID: agents.ID(req.GetAgentId()), UserID: req.GetUserId(), Modality: sessions.Modality(req.GetModality()),
		DynamicVariables: req.GetDynamicVariables(),
		Overrides:        membersOf(req.GetOverrides()), VoiceStackOverride: membersOf(req.GetVoiceStackOverride()),
		TTLSeconds: intOf(req.TtlSeconds), Draft: req.GetDraft(),
	}
}

// endedProto is what an end user is told of a session that it ended: not its variables, analysis,
// recording and usage, which are the operator's.
func endedProto(s sessions.Session) *parlancev1.Session {
	return &parlancev1.Session{
		Id: string(s.ID), Status: string(s.Status), AgentId: string(s.AgentID), UserId: s.UserID, Modality: string(s.Modality),
		CreatedAt: timestamp(s.CreatedAt), StartedAt: timestamp(s.StartedAt), EndedAt: timestamp(s.EndedAt), EndReason: s.EndReason,
		Usage: &parlancev1.SessionUsage{}, Analysis: &parlancev1.SessionAnalysis{Status: "none", Usage: &parlancev1.TurnUsage{}},
		Recording: &parlancev1.SessionRecording{Status: "none"},
	}
}

// membersOf returns the JSON of each member of a Struct; nil for an absent one.
func membersOf(s *structpb.Struct) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(jsonOf(s), &members); err != nil { // absent
		return nil
	}
	return members
}

func createdSessionProto(c sessions.Created) *parlancev1.CreateSessionResponse {
	return &parlancev1.CreateSessionResponse{
		Id: string(c.Session.ID), Status: string(c.Session.Status), WsUrl: c.VoiceURL, ChatUrl: c.ChatURL,
		Token: c.Token, ExpiresAt: timestamp(c.Session.TokenExpiresAt),
	}
}

func feedbackProto(l sessions.Likes) *parlancev1.SessionFeedback {
	if l == (sessions.Likes{}) {
		return nil
	}
	return &parlancev1.SessionFeedback{OverallScore: string(l.Overall()), Likes: int32Of(l.Likes), Dislikes: int32Of(l.Dislikes)}
}

func (s *sessionsServer) sessionProto(
	ctx context.Context, one sessions.Session, analysis analysis.Analysis, recorded recordings.View,
) *parlancev1.Session {
	used := &parlancev1.SessionUsage{
		InputTokens: int32Of(one.InputTokens), OutputTokens: int32Of(one.OutputTokens), ToolCalls: int32Of(one.ToolCalls), Currency: s.Currency,
	}
	if s.Currency != "" {
		used.Cost = cmp.Or(one.Cost, "0")
	}
	return &parlancev1.Session{
		Feedback: feedbackProto(one.Likes),
		Id:       string(one.ID), Status: string(one.Status), WorkspaceId: string(one.WorkspaceID),
		AgentId: string(one.AgentID), AgentVersion: int32Of(one.AgentVersion), DraftRevision: int32Of(one.DraftRevision),
		UserId: one.UserID, Modality: string(one.Modality),
		CreatedAt: timestamp(one.CreatedAt), StartedAt: timestamp(one.StartedAt), EndedAt: timestamp(one.EndedAt), EndReason: one.EndReason,
		DurationMs: int32Of(int(one.Duration(s.Sessions.Now()).Milliseconds())), TurnCount: int32Of(one.TurnCount), Language: one.Language,
		Usage:            used,
		DynamicVariables: one.ShownVariables(one.DynamicVariables), AssignedVariables: one.ShownVariables(one.AssignedVariables),
		Analysis:           sessionAnalysisProto(analysis),
		IdleTimeoutSeconds: int32Of(one.IdleTimeoutSeconds), MaxDurationSeconds: int32Of(one.MaxDurationSeconds),
		ContentDeletedAt: timestamp(one.ContentDeletedAt), Recording: recordingProto(ctx, one.ID, recorded),
		Handover: handoverProto(one.Handover),
	}
}

func turnProto(t sessions.Turn) *parlancev1.Turn {
	turn := &parlancev1.Turn{
		Id: string(t.ID), SessionId: string(t.SessionID), Index: int32Of(t.Index), UserText: t.UserText, AgentText: t.AgentText,
		Status: string(t.Status), Citations: each(t.Citations, citationProto), ToolCalls: turnCallsProto(t), Usage: turnUsageProto(t),
		Metrics: &parlancev1.TurnMetrics{
			RetrievalMs: int32Of(t.Metrics.RetrievalMS), ModelFirstTokenMs: int32Of(t.Metrics.ModelFirstTokenMS),
			ToolsMs: int32Of(t.Metrics.ToolsMS), TotalMs: int32Of(t.Metrics.TotalMS),
			ToolRounds: int32Of(t.Metrics.ToolRounds), ToolRoundsExhausted: t.Metrics.RoundsExhausted,
			Speech: speechProto(t.Speech),
		},
		StartedAt: timestamp(t.StartedAt), EndedAt: timestamp(t.EndedAt), Retrieval: retrievalProto(t.Retrieval),
		ReceiptHash: t.ReceiptHash, Feedback: string(t.Feedback),
		IncompleteReason: t.Metrics.Incomplete, Operator: t.Metrics.Operator, OperatorText: sessions.OperatorText(t.Messages),
	}
	turn.Items, turn.Spilled = each(t.Items, turnItemProto), t.Journalled
	if t.ErrorCode != "" {
		turn.Error = &parlancev1.TurnError{Code: t.ErrorCode, Message: t.ErrorMessage}
	}
	return turn
}

// turnFor is a turn for the caller of a request, who may be an end user.
func turnFor(ctx context.Context, t sessions.Turn) *parlancev1.Turn {
	if workspaces.PrincipalFrom(ctx).SessionID != "" && t.ErrorCode != "" {
		t.ErrorMessage = sessions.ForEndUser(fault.New(fault.Reason(t.ErrorCode), "%s", t.ErrorMessage)).Message
	}
	return turnProto(t)
}

func answeredTurnProto(t sessions.Turn) *parlancev1.CreateTurnResponse {
	return &parlancev1.CreateTurnResponse{
		TurnId: string(t.ID), Text: t.AgentText, Citations: each(t.Citations, citationProto),
		ToolCalls: turnCallsProto(t), Usage: turnUsageProto(t), Status: string(t.Status), ReceiptHash: t.ReceiptHash,
		IncompleteReason: t.Metrics.Incomplete, Handover: string(t.Metrics.Handover),
		ClientToolCalls: each(t.OpenClientCalls(), func(c sessions.ToolCall) *parlancev1.ToolCall {
			return turnCallProto(string(t.SessionID), string(t.ID), c)
		}),
	}
}

// turnRequest is what CreateTurn and StreamTurn have in common.
type turnRequest interface {
	GetText() string
	GetClientTools() []*parlancev1.ClientTool
	GetToolOutputs() []*parlancev1.ToolOutput
}

func turnParams(req turnRequest) requests.Params {
	params := requests.Params{Text: req.GetText()}
	for _, tool := range req.GetClientTools() {
		params.ClientTools = append(params.ClientTools, model.Tool{
			Name:        tool.GetName(),
			Description: tool.GetDescription(), InputSchema: schemaOf(tool),
		})
	}
	for _, output := range req.GetToolOutputs() {
		params.Outputs = append(params.Outputs, turns.ToolOutput{
			CallID: output.GetCallId(),
			Output: output.GetOutput(), IsError: output.GetIsError(),
		})
	}
	return params
}

// schemaOf returns the schema of a tool; without one, any object is valid.
func schemaOf(tool *parlancev1.ClientTool) json.RawMessage {
	if schema := exactOf(tool.GetParametersJson(), tool.GetParameters()); schema != nil {
		return schema
	}
	return json.RawMessage(`{"type":"object"}`)
}

func turnEmitter(session string, stream *connect.ServerStream[parlancev1.StreamTurnResponse]) func(requests.Event) error {
	return func(e requests.Event) error { return stream.Send(turnEventProto(session, e)) }
}

func speechProto(m *sessions.SpeechMetrics) *parlancev1.TurnSpeech {
	if m == nil {
		return nil
	}
	return &parlancev1.TurnSpeech{
		EndpointingMs: int32Of(m.EndpointingMS), TranscriptMs: int32Of(m.TranscriptMS),
		FirstTokenMs: int32Of(m.FirstTokenMS), FirstAudioMs: int32Of(m.FirstAudioMS),
	}
}

func turnUsageProto(t sessions.Turn) *parlancev1.TurnUsage {
	return &parlancev1.TurnUsage{InputTokens: int32Of(t.InputTokens), OutputTokens: int32Of(t.OutputTokens), Model: t.Model}
}

func retrievalProto(r *sessions.Retrieval) *parlancev1.TurnRetrieval {
	if r == nil {
		return nil
	}
	return &parlancev1.TurnRetrieval{
		Ranking: r.Ranking, EmbeddingModel: r.Model, MinSimilarity: r.Floor, Rerank: r.Rerank, Chunks: each(r.Chunks, retrievedProto),
	}
}

func retrievedProto(c sessions.RetrievedChunk) *parlancev1.RetrievedChunk {
	return &parlancev1.RetrievedChunk{
		ChunkId: c.ChunkID, SourceId: c.SourceID, Similarity: c.Similarity, SimilarityPlace: int32Of(c.SimilarityPlace),
		WordPlace: int32Of(c.WordPlace), WordScore: c.WordScore, FusedScore: c.Fused, RerankScore: c.Rerank, Use: c.Use,
	}
}

func citationProto(c sessions.Citation) *parlancev1.Citation {
	return &parlancev1.Citation{
		SourceId: c.SourceID, SourceName: c.SourceName, ChunkId: c.ChunkID, Heading: c.Heading,
		PageStart: int32Of(c.PageStart), PageEnd: int32Of(c.PageEnd), Similarity: c.Similarity, Excerpt: c.Excerpt, Quoted: c.Quoted,
	}
}

func turnCallsProto(t sessions.Turn) []*parlancev1.ToolCall {
	return each(t.ToolCalls(), func(c sessions.ToolCall) *parlancev1.ToolCall {
		return turnCallProto(string(t.SessionID), string(t.ID), c)
	})
}

func turnCallProto(session, turn string, c sessions.ToolCall) *parlancev1.ToolCall {
	call := &parlancev1.ToolCall{
		Id: c.ID, SessionId: session, TurnId: turn, ToolId: c.ToolID, Slug: c.Name,
		Input: structOf(c.Arguments), InputJson: textOf(c.Arguments), Output: c.Output,
		StatusCode: int32Of(c.StatusCode), LatencyMs: int32Of(c.LatencyMS), Attempts: int32Of(c.Attempts), StartedAt: timestamp(c.StartedAt),
		AssignedVariables: c.Assigned,
	}
	if c.Approval != nil {
		call.Approval = &parlancev1.ToolCallApproval{
			Status: string(c.Approval.Status), DecidedBy: c.Approval.DecidedBy, Reason: c.Approval.Reason,
			DecidedAt: timestamp(c.Approval.DecidedAt),
		}
	}
	if c.ErrorCode != "" {
		call.Error = &parlancev1.ToolError{Code: c.ErrorCode, Message: c.ErrorMessage}
	}
	return call
}

func turnEventProto(session string, e requests.Event) *parlancev1.StreamTurnResponse {
	event := &parlancev1.StreamTurnResponse{Type: e.Type, EventId: e.ID, TurnId: string(e.TurnID), Delta: e.Delta}
	if e.ToolCall != nil {
		event.ToolCall = turnCallProto(session, string(e.TurnID), *e.ToolCall)
	}
	if e.Approval != nil {
		event.Approval = approvalProto(session, *e.Approval)
	}
	if e.Turn != nil {
		event.Turn = answeredTurnProto(*e.Turn)
	}
	setTyped(event)
	return event
}

// setTyped sets the member of the oneof that the type names.
func setTyped(event *parlancev1.StreamTurnResponse) {
	switch event.GetType() {
	case requests.EventStarted:
		event.Event = &parlancev1.StreamTurnResponse_Started{Started: &parlancev1.TurnStarted{}}
	case requests.EventDelta:
		event.Event = &parlancev1.StreamTurnResponse_TextDelta{TextDelta: &parlancev1.TurnTextDelta{Text: event.GetDelta()}}
	case requests.EventApproval:
		event.Event = &parlancev1.StreamTurnResponse_ApprovalRequested{
			ApprovalRequested: &parlancev1.TurnApprovalRequested{Approval: event.GetApproval()},
		}
	case requests.EventToolCall:
		event.Event = &parlancev1.StreamTurnResponse_ToolCalled{ToolCalled: &parlancev1.TurnToolCalled{Call: event.GetToolCall()}}
	case requests.EventClientCall:
		event.Event = &parlancev1.StreamTurnResponse_ClientToolCalled{
			ClientToolCalled: &parlancev1.TurnClientToolCalled{Call: event.GetToolCall()},
		}
	case requests.EventDone:
		event.Event = &parlancev1.StreamTurnResponse_Done{Done: &parlancev1.TurnDone{Turn: event.GetTurn()}}
	}
}

// int32Of returns a count for the wire, limited to what an int32 can hold.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
