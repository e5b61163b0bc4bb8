package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/sessions"
)

// maxPostCallBytes bounds the event's body. Source: decisions, Webhooks.
const maxPostCallBytes = 256 << 10

// newPostCall returns the payload without analysis and memory.
func newPostCall(session sessions.Session, turns []sessions.Turn) (*events.PostCallTranscriptionData, error) {
	p := &events.PostCallTranscriptionData{
		AgentId: string(session.AgentID), ConversationId: string(session.ID), SessionId: string(session.ID), Status: "done",
		UserId: session.UserID,
		Metadata: &events.CallMetadata{
			StartTimeUnixSecs: float64(session.StartedAt.Unix()), CallDurationSecs: seconds(session.EndedAt.Sub(session.StartedAt)),
			TerminationReason: session.EndReason, MainLanguage: session.Language, TextOnly: session.Modality == sessions.Text,
			TurnCount: int32(session.TurnCount), InputTokens: int32(session.InputTokens), OutputTokens: int32(session.OutputTokens),
		},
		ConversationInitiationClientData: &events.ConversationInitiation{DynamicVariables: session.DynamicVariables},
		AgentVersion:                     int32(session.AgentVersion), DraftRevision: int32(session.DraftRevision),
		Modality: string(session.Modality),
	}
	if session.Status == sessions.Failed {
		p.Status = "failed"
	}
	if counted := session.Likes; counted != (sessions.Likes{}) {
		p.Metadata.Feedback = &events.CallFeedback{Likes: int32(counted.Likes), Dislikes: int32(counted.Dislikes)}
		if overall := counted.Overall(); overall != sessions.NoScore {
			p.Metadata.Feedback.OverallScore = new(string(overall))
		}
	}
	for _, turn := range turns {
		p.Transcript = append(p.Transcript, utterances(session, turn)...)
	}
	overrides := configOverride(session)
	if overrides == nil {
		return p, nil
	}
	var err error
	p.ConversationInitiationClientData.ConversationConfigOverride, err = structOf(overrides)
	return p, err
}

// structOf converts a map to protobuf's form of a JSON object.
func structOf(object map[string]any) (*structpb.Struct, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding a part of post_call_transcription: %w", err)
	}
	converted := new(structpb.Struct)
	if err := converted.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("converting a part of post_call_transcription: %w", err)
	}
	return converted, nil
}

// utterances returns the user's words and the agent's, with its tool calls.
func utterances(session sessions.Session, turn sessions.Turn) []*events.TranscriptEntry {
	begun := turn.StartedAt.Sub(session.StartedAt)
	var said []*events.TranscriptEntry
	if turn.UserText != "" {
		said = append(said, &events.TranscriptEntry{
			Role: "user", Message: turn.UserText, TurnId: string(turn.ID), TimeInCallSecs: seconds(begun),
		})
	}
	if text := sessions.OperatorText(turn.Messages); text != "" {
		said = append(said, &events.TranscriptEntry{
			Role: "agent", Message: text, TurnId: string(turn.ID), TimeInCallSecs: seconds(begun), Operator: turn.Metrics.Operator,
		})
	}
	heard, cut := sessions.HeardText(turn, session.ItemEdits)
	agent := &events.TranscriptEntry{
		Role: "agent", Message: heard, TurnId: string(turn.ID),
		Interrupted: cut || turn.Status == sessions.TurnCancelled,
	}
	for _, call := range turn.ToolCalls() {
		agent.ToolCalls = append(agent.ToolCalls, &events.TranscriptToolCall{
			RequestId: call.ID, ToolName: call.Name, ParamsAsJson: string(call.Arguments), ToolHasBeenCalled: call.Made(),
		})
		agent.ToolResults = append(agent.ToolResults, &events.TranscriptToolResult{
			RequestId: call.ID, ToolName: call.Name, ResultValue: call.Output, IsError: call.ErrorCode != "",
			ToolLatencyMs: int32(call.LatencyMS), ToolLatencySecs: float64(call.LatencyMS) / 1000, ToolHasBeenCalled: call.Made(),
		})
	}
	if agent.Message == "" && len(agent.ToolCalls) == 0 {
		return said
	}
	agent.TimeInCallSecs = seconds(begun + time.Duration(turn.Metrics.RetrievalMS+turn.Metrics.ModelFirstTokenMS)*time.Millisecond)
	if turn.Feedback != sessions.NoScore {
		agent.Feedback = &events.EntryFeedback{Score: string(turn.Feedback), TimeInCallSecs: agent.TimeInCallSecs}
	}
	agent.ConversationTurnMetrics = map[string]*events.ElapsedTime{}
	stages := map[string]int{
		"convai_llm_service_ttfb": turn.Metrics.ModelFirstTokenMS, "retrieval": turn.Metrics.RetrievalMS,
		"tools": turn.Metrics.ToolsMS, "total": turn.Metrics.TotalMS,
	}
	if speech := turn.Speech; speech != nil {
		stages["endpointing"], stages["transcript"] = speech.EndpointingMS, speech.TranscriptMS
		stages["first_token"], stages["first_audio"] = speech.FirstTokenMS, speech.FirstAudioMS
	}
	for name, ms := range stages {
		if ms > 0 {
			agent.ConversationTurnMetrics[name] = &events.ElapsedTime{ElapsedTime: float64(ms) / 1000}
		}
	}
	return append(said, agent)
}

// seconds rounds a duration to whole seconds.
func seconds(d time.Duration) int32 { return int32(math.Round(max(0, d.Seconds()))) }

// newCallAnalysis returns nil for a session that was not analysed.
func newCallAnalysis(a Analysis) (*events.CallAnalysis, error) {
	if a.Status != Done && a.Status != Failed {
		return nil, nil //nolint:nilnil // no analysis is no error
	}
	criteria, data := map[string]any{}, map[string]any{}
	for _, c := range a.Result.Criteria {
		criteria[c.ID] = map[string]any{"criteria_id": c.ID, "result": c.Result, "rationale": c.Rationale}
	}
	for _, d := range a.Result.Data {
		data[d.ID] = map[string]any{"data_collection_id": d.ID, "value": d.Value, "rationale": d.Rationale}
	}
	found := &events.CallAnalysis{
		CallSuccessful: cmp.Or(a.Result.Success, Unknown), TranscriptSummary: a.Result.Summary, Status: string(a.Status), Error: a.Error,
	}
	var err error
	if found.EvaluationCriteriaResults, err = structOf(criteria); err != nil {
		return nil, err
	}
	if found.DataCollectionResults, err = structOf(data); err != nil {
		return nil, err
	}
	exact, err := json.Marshal(data)
	found.DataCollectionResultsJson = string(exact)
	return found, err
}

// newCallMemory lists the memories that the session wrote and forgot. maxForgotten bounds the ids.
func newCallMemory(items []memory.Item, turns []sessions.Turn, extraction string) *events.CallMemory {
	const maxForgotten = 200
	found := &events.CallMemory{Extraction: extraction}
	for _, item := range items {
		found.Learnt = append(found.Learnt, &events.LearntMemory{
			Id: string(item.ID), Kind: string(item.Kind), Text: item.Text, Category: item.Category, Status: string(item.Status),
			CreatedBy: item.CreatedBy, TurnId: item.TurnID,
		})
	}
	for _, turn := range turns {
		for _, call := range turn.ToolCalls() {
			var answer memory.Answer
			if call.Name != memory.ToolNote && call.Name != memory.ToolStatement {
				continue
			}
			if json.Unmarshal([]byte(call.Output), &answer) != nil || answer.Status != memory.StatusForgotten {
				continue
			}
			for _, id := range answer.IDs {
				if len(found.Forgotten) < maxForgotten {
					found.Forgotten = append(found.Forgotten, string(id))
				}
			}
		}
	}
	return found
}
