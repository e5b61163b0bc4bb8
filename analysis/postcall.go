package analysis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/encoding/protojson"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
)

// maxPostCallBytes bounds the event's body. Source: decisions, Webhooks.
const maxPostCallBytes = 256 << 10

// postCall is the payload of post_call_transcription under the names of events.proto, whose
// message only package events knows.
type postCall struct {
	AgentID        string            `json:"agent_id"`
	ConversationID sessions.ID       `json:"conversation_id"`
	SessionID      sessions.ID       `json:"session_id"`
	Status         string            `json:"status"`
	UserID         string            `json:"user_id"`
	Transcript     []utterance       `json:"transcript,omitempty"`
	Metadata       callMetadata      `json:"metadata"`
	Analysis       *callAnalysis     `json:"analysis,omitempty"`
	Memory         *callMemory       `json:"memory,omitempty"`
	Initiation     callInitiation    `json:"conversation_initiation_client_data"`
	Truncated      bool              `json:"truncated,omitempty"`
	TranscriptURL  string            `json:"transcript_url,omitempty"`
	AgentVersion   int               `json:"agent_version"`
	Modality       sessions.Modality `json:"modality"`
}

type utterance struct {
	Role        string                 `json:"role"`
	Message     string                 `json:"message"`
	TurnID      sessions.TurnID        `json:"turn_id"`
	ToolCalls   []spokenCall           `json:"tool_calls,omitempty"`
	ToolResults []spokenResult         `json:"tool_results,omitempty"`
	Seconds     int                    `json:"time_in_call_secs"`
	Metrics     map[string]elapsedTime `json:"conversation_turn_metrics,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"`
	Feedback    sessions.Score         `json:"feedback,omitempty"`
}

type spokenCall struct {
	RequestID string `json:"request_id"`
	Name      string `json:"tool_name"`
	Params    string `json:"params_as_json"`
	Called    bool   `json:"tool_has_been_called"`
}

type spokenResult struct {
	RequestID string `json:"request_id"`
	Name      string `json:"tool_name"`
	Value     string `json:"result_value"`
	IsError   bool   `json:"is_error"`
	LatencyMS int    `json:"tool_latency_ms"`
}

type elapsedTime struct {
	Seconds float64 `json:"elapsed_time"`
}

type callMetadata struct {
	StartUnix    float64 `json:"start_time_unix_secs"`
	Seconds      int     `json:"call_duration_secs"`
	EndReason    string  `json:"termination_reason"`
	Language     string  `json:"main_language"`
	TextOnly     bool    `json:"text_only"`
	Turns        int     `json:"turn_count"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	// Feedback is nil when the user has given none.
	Feedback *callFeedback `json:"feedback,omitempty"`
}

type callFeedback struct {
	Overall  *sessions.Score `json:"overall_score"`
	Likes    int             `json:"likes"`
	Dislikes int             `json:"dislikes"`
}

type callInitiation struct {
	Overrides map[string]any    `json:"conversation_config_override,omitempty"`
	Variables map[string]string `json:"dynamic_variables"`
}

// callAnalysis is what ElevenLabs' receivers look for, and whether it was done.
type callAnalysis struct {
	Criteria map[string]criterionFound `json:"evaluation_criteria_results"`
	Data     map[string]dataFound      `json:"data_collection_results"`
	Success  string                    `json:"call_successful"`
	Summary  string                    `json:"transcript_summary"`
	Status   AnalysisStatus            `json:"status"`
	Error    string                    `json:"error,omitempty"`
}

type criterionFound struct {
	ID        string `json:"criteria_id"`
	Result    string `json:"result"`
	Rationale string `json:"rationale"`
}

type dataFound struct {
	ID        string          `json:"data_collection_id"`
	Value     json.RawMessage `json:"value"`
	Rationale string          `json:"rationale"`
}

// newCallAnalysis is nil for a session that is not analysed.
func newCallAnalysis(a Analysis) *callAnalysis {
	if a.Status != AnalysisDone && a.Status != AnalysisFailed {
		return nil
	}
	found := &callAnalysis{
		Criteria: map[string]criterionFound{}, Data: map[string]dataFound{},
		Success: cmp.Or(a.Result.Success, Unknown), Summary: a.Result.Summary, Status: a.Status, Error: a.Error,
	}
	for _, c := range a.Result.Criteria {
		found.Criteria[c.ID] = criterionFound{ID: c.ID, Result: c.Result, Rationale: c.Rationale}
	}
	for _, d := range a.Result.Data {
		found.Data[d.ID] = dataFound{ID: d.ID, Value: d.Value, Rationale: d.Rationale}
	}
	return found
}

// announceEnd appends the event of a session that was just closed, or leaves that to its analyses.
func (s *Service) AnnounceEnd(ctx context.Context, tx bun.Tx, session sessions.Session, turns []sessions.Turn) error {
	var kinds []AnalysisKind
	if wantsAnalysis(session, turns) {
		kinds = append(kinds, Judging)
	}
	if wantsLearning(session, turns) {
		kinds = append(kinds, Learning)
	}
	if len(kinds) > 0 {
		return insertAnalyses(ctx, tx, session, kinds, session.EndedAt)
	}
	return appendPostCall(ctx, tx, session, turns, nil, session.EndedAt, s.sessions.TranscriptURL(session.ID))
}

// appendPostCall appends the event of a session that is closed, at the end of its analyses. Its id is
// made from the session's, so that the outbox itself refuses a second one.
func appendPostCall(ctx context.Context, tx bun.Tx, session sessions.Session, turns []sessions.Turn, found map[AnalysisKind]Analysis, at time.Time, transcriptURL string) error {
	event := events.Event{
		ID:       string(idgen.Event) + strings.TrimPrefix(string(session.ID), string(idgen.Session)),
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.PostCallTranscription, Subject: string(session.ID), CreatedAt: at,
	}
	payload := newPostCall(session, turns)
	payload.Analysis = newCallAnalysis(found[Judging])
	if session.Config.Memory.Enabled {
		learnt, err := memory.LearntTx(ctx, tx, session.Ref(), session.UserID, string(session.ID))
		if err != nil {
			return err
		}
		payload.Memory = newCallMemory(learnt, turns, string(cmp.Or(found[Learning].Status, AnalysisNone)))
	}
	if err := fitPayload(&event, payload, transcriptURL); err != nil {
		return err
	}
	_, err := events.Append(ctx, tx, event)
	return err
}

// fitPayload sets the payload, without what is largest and can be read elsewhere while the body is too large with it.
func fitPayload(event *events.Event, payload postCall, transcriptURL string) error {
	for _, cut := range []func(){
		func() {},
		func() { payload.Transcript, payload.Truncated, payload.TranscriptURL = nil, true, transcriptURL },
		func() { payload.Initiation.Overrides = nil },
		func() { payload.Initiation.Variables = nil },
		func() {
			if payload.Memory != nil {
				payload.Memory.Learnt = nil
			}
		},
	} {
		cut()
		if err := setPayload(event, payload); err != nil {
			return err
		}
		body, err := events.Body(*event)
		if err != nil || len(body) <= maxPostCallBytes {
			return err
		}
	}
	return nil
}

func setPayload(event *events.Event, payload postCall) error {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encoding post_call_transcription: %w", err)
	}
	event.Payload = events.NewPayload(event.Type)
	if err := protojson.Unmarshal(encoded, event.Payload); err != nil {
		return fmt.Errorf("shaping post_call_transcription: %w", err)
	}
	return nil
}

func newPostCall(session sessions.Session, turns []sessions.Turn) postCall {
	p := postCall{
		AgentID: string(session.AgentID), ConversationID: session.ID, SessionID: session.ID, Status: "done", UserID: session.UserID,
		Metadata: callMetadata{
			StartUnix: float64(session.StartedAt.Unix()), Seconds: seconds(session.EndedAt.Sub(session.StartedAt)),
			EndReason: session.EndReason, Language: session.Language, TextOnly: session.Modality == sessions.Text,
			Turns: session.TurnCount, InputTokens: session.InputTokens, OutputTokens: session.OutputTokens,
		},
		Initiation:   callInitiation{Overrides: sessions.ConfigOverride(session), Variables: session.DynamicVariables},
		AgentVersion: session.AgentVersion, Modality: session.Modality,
	}
	if session.Status == sessions.Broken {
		p.Status = "failed"
	}
	if counted := session.Likes; counted != (sessions.Likes{}) {
		p.Metadata.Feedback = &callFeedback{Likes: counted.Likes, Dislikes: counted.Dislikes}
		if overall := counted.Overall(); overall != sessions.NoScore {
			p.Metadata.Feedback.Overall = &overall
		}
	}
	for _, turn := range turns {
		p.Transcript = append(p.Transcript, utterances(session, turn)...)
	}
	return p
}

// utterances are the user's words and the agent's, with its tool calls between them.
func utterances(session sessions.Session, turn sessions.Turn) []utterance {
	begun := turn.StartedAt.Sub(session.StartedAt)
	var said []utterance
	if turn.UserText != "" {
		said = append(said, utterance{Role: "user", Message: turn.UserText, TurnID: turn.ID, Seconds: seconds(begun)})
	}
	agent := utterance{Role: "agent", Message: turn.AgentText, TurnID: turn.ID, Interrupted: turn.Status == sessions.TurnCancelled, Feedback: turn.Feedback}
	for _, call := range turn.ToolCalls() {
		agent.ToolCalls = append(agent.ToolCalls, spokenCall{RequestID: call.ID, Name: call.Name, Params: string(call.Arguments), Called: call.Made()})
		agent.ToolResults = append(agent.ToolResults, spokenResult{
			RequestID: call.ID, Name: call.Name, Value: call.Output, IsError: call.ErrorCode != "", LatencyMS: call.LatencyMS,
		})
	}
	if agent.Message == "" && len(agent.ToolCalls) == 0 {
		return said
	}
	agent.Seconds = seconds(begun + time.Duration(turn.Metrics.RetrievalMS+turn.Metrics.ModelFirstTokenMS)*time.Millisecond)
	agent.Metrics = map[string]elapsedTime{}
	for name, ms := range map[string]int{
		"convai_llm_service_ttfb": turn.Metrics.ModelFirstTokenMS, "retrieval": turn.Metrics.RetrievalMS,
		"tools": turn.Metrics.ToolsMS, "total": turn.Metrics.TotalMS,
	} {
		if ms > 0 {
			agent.Metrics[name] = elapsedTime{Seconds: float64(ms) / 1000}
		}
	}
	return append(said, agent)
}

func seconds(d time.Duration) int { return int(math.Round(max(0, d.Seconds()))) }
