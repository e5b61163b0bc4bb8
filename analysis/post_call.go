package analysis

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/sessions"
)

// maxPostCallBytes bounds the event's body. Source: decisions, Webhooks.
const maxPostCallBytes = 256 << 10

// postCall is the payload of post_call_transcription under the names of events.proto, whose message
// only package events may import.
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

// utterance is what the user said, or what the agent said and called.
type utterance struct {
	Role        string                 `json:"role"`
	Message     string                 `json:"message"`
	TurnID      sessions.TurnID        `json:"turn_id"`
	ToolCalls   []callEntry            `json:"tool_calls,omitempty"`
	ToolResults []resultEntry          `json:"tool_results,omitempty"`
	Seconds     int                    `json:"time_in_call_secs"`
	Metrics     map[string]elapsedTime `json:"conversation_turn_metrics,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"`
	Feedback    sessions.Score         `json:"feedback,omitempty"`
}

type callEntry struct {
	RequestID string `json:"request_id"`
	Name      string `json:"tool_name"`
	Params    string `json:"params_as_json"`
	Called    bool   `json:"tool_has_been_called"`
}

type resultEntry struct {
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
	// Feedback is nil when the user gave none.
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

// callAnalysis has the fields that ElevenLabs' receivers read, and the status of the analysis.
type callAnalysis struct {
	Criteria map[string]criterionEntry `json:"evaluation_criteria_results"`
	Data     map[string]dataEntry      `json:"data_collection_results"`
	Success  string                    `json:"call_successful"`
	Summary  string                    `json:"transcript_summary"`
	Status   Status                    `json:"status"`
	Error    string                    `json:"error,omitempty"`
}

type criterionEntry struct {
	ID        string `json:"criteria_id"`
	Result    string `json:"result"`
	Rationale string `json:"rationale"`
}

type dataEntry struct {
	ID        string          `json:"data_collection_id"`
	Value     json.RawMessage `json:"value"`
	Rationale string          `json:"rationale"`
}

// callMemory is what post_call_transcription says about the user's memory.
type callMemory struct {
	Learnt     []memoryEntry `json:"learnt,omitempty"`
	Forgotten  []string      `json:"forgotten,omitempty"`
	Extraction string        `json:"extraction"`
}

type memoryEntry struct {
	ID        memory.ID     `json:"id"`
	Kind      memory.Kind   `json:"kind"`
	Text      string        `json:"text"`
	Category  string        `json:"category"`
	Status    memory.Status `json:"status"`
	CreatedBy string        `json:"created_by"`
	TurnID    string        `json:"turn_id"`
}

// newPostCall returns the payload without analysis and memory.
func newPostCall(session sessions.Session, turns []sessions.Turn) postCall {
	p := postCall{
		AgentID: string(session.AgentID), ConversationID: session.ID, SessionID: session.ID, Status: "done", UserID: session.UserID,
		Metadata: callMetadata{
			StartUnix: float64(session.StartedAt.Unix()), Seconds: seconds(session.EndedAt.Sub(session.StartedAt)),
			EndReason: session.EndReason, Language: session.Language, TextOnly: session.Modality == sessions.Text,
			Turns: session.TurnCount, InputTokens: session.InputTokens, OutputTokens: session.OutputTokens,
		},
		Initiation:   callInitiation{Overrides: configOverride(session), Variables: session.DynamicVariables},
		AgentVersion: session.AgentVersion, Modality: session.Modality,
	}
	if session.Status == sessions.Failed {
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

// utterances returns the user's words and the agent's, with its tool calls.
func utterances(session sessions.Session, turn sessions.Turn) []utterance {
	begun := turn.StartedAt.Sub(session.StartedAt)
	var said []utterance
	if turn.UserText != "" {
		said = append(said, utterance{Role: "user", Message: turn.UserText, TurnID: turn.ID, Seconds: seconds(begun)})
	}
	agent := utterance{
		Role: "agent", Message: turn.AgentText, TurnID: turn.ID,
		Interrupted: turn.Status == sessions.TurnCancelled, Feedback: turn.Feedback,
	}
	for _, call := range turn.ToolCalls() {
		agent.ToolCalls = append(agent.ToolCalls, callEntry{
			RequestID: call.ID, Name: call.Name, Params: string(call.Arguments), Called: call.Made(),
		})
		agent.ToolResults = append(agent.ToolResults, resultEntry{
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

// seconds rounds a duration to whole seconds.
func seconds(d time.Duration) int { return int(math.Round(max(0, d.Seconds()))) }

// newCallAnalysis returns nil for a session that was not analysed.
func newCallAnalysis(a Analysis) *callAnalysis {
	if a.Status != Done && a.Status != Failed {
		return nil
	}
	found := &callAnalysis{
		Criteria: map[string]criterionEntry{}, Data: map[string]dataEntry{},
		Success: cmp.Or(a.Result.Success, Unknown), Summary: a.Result.Summary, Status: a.Status, Error: a.Error,
	}
	for _, c := range a.Result.Criteria {
		found.Criteria[c.ID] = criterionEntry{ID: c.ID, Result: c.Result, Rationale: c.Rationale}
	}
	for _, d := range a.Result.Data {
		found.Data[d.ID] = dataEntry{ID: d.ID, Value: d.Value, Rationale: d.Rationale}
	}
	return found
}

// newCallMemory lists the memories that the session wrote and forgot. maxForgotten bounds the ids.
func newCallMemory(items []memory.Item, turns []sessions.Turn, extraction string) *callMemory {
	const maxForgotten = 200
	found := &callMemory{Extraction: extraction}
	for _, item := range items {
		found.Learnt = append(found.Learnt, memoryEntry{
			ID: item.ID, Kind: item.Kind, Text: item.Text, Category: item.Category, Status: item.Status,
			CreatedBy: item.CreatedBy, TurnID: item.TurnID,
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
