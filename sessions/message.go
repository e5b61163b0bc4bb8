package sessions

import (
	"encoding/json"
	"strings"
	"time"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// The roles of a stored message. They are the model's, and RoleSystem.
const (
	RoleUser      = string(model.RoleUser)
	RoleAssistant = string(model.RoleAssistant)
	RoleTool      = string(model.RoleTool)
	// RoleSystem is a note of the application. Models read it as a marked message of the user.
	RoleSystem = "system"
	// RoleOperator is what a person said who had the conversation. Models read it as a marked message
	// of the agent.
	RoleOperator = "operator"
)

// BetweenMessages separates the messages of one turn in its AgentText.
const BetweenMessages = "\n\n"

// Message is one message of a turn as it is stored: a model.Message with ids of items.
type Message struct {
	Role   string `json:"role"`
	ItemID string `json:"item_id,omitempty"`
	Text   string `json:"text,omitempty"`
	// Calls are the calls of an assistant's message. A tool's message answers each.
	Calls []MessageCall `json:"calls,omitempty"`
	// CallID and Result belong to a tool's message.
	CallID string      `json:"call_id,omitempty"`
	Result *CallResult `json:"result,omitempty"`
	// At is when the message was said, in milliseconds since the turn began.
	At int `json:"at,omitempty"`
	// After is the item behind which a client put this one, or AtFront. When it is empty, the order
	// of time applies.
	After string `json:"after,omitempty"`
	// Inserted says that a client inserted this as something the agent said or called.
	Inserted bool `json:"put,omitempty"`
	// Generation counts the earlier items with the same id, all of which were removed.
	Generation int `json:"again,omitempty"`
	// Interrupted says that the agent was stopped before it had said everything.
	Interrupted bool `json:"broken_off,omitempty"`
	// Withheld says that a guard stopped what a client said. The transcript has it, models do not.
	Withheld bool `json:"withheld,omitempty"`
	// Audio describes a message that was spoken; nil when it was written.
	Audio *Audio `json:"audio,omitempty"`
	// Operator is the name of the person who wrote a message of RoleOperator. Note says that it is for
	// the model, not for the user.
	Operator string `json:"operator,omitempty"`
	Note     bool   `json:"note,omitempty"`
	// Sealed is what the message says, when that is stored sealed only; see contents.go.
	Sealed []byte `json:"sealed,omitempty"`
}

// withheldText stands for what a guard stopped.
const withheldText = "[The user's message was withheld by a guard.]"

// ModelText returns the text that models see.
func (m Message) ModelText() string {
	if m.Withheld {
		return withheldText
	}
	return m.Text
}

// MessageCall is a call that the model made.
type MessageCall struct {
	ID        string          `json:"id"`
	ItemID    string          `json:"item_id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Client says that the client runs the call.
	Client bool `json:"client,omitempty"`
}

// clientTool returns the id of a tool that the client runs, and the empty string for other tools.
func (c MessageCall) clientTool() string {
	if !c.Client {
		return ""
	}
	return tools.ClientPrefix + c.Name
}

// CallResult is what is known of a call besides its output.
type CallResult struct {
	ToolID     string `json:"tool_id,omitempty"`
	StatusCode int    `json:"status_code,omitempty"`
	LatencyMS  int    `json:"latency_ms,omitempty"`
	Attempts   int    `json:"attempts,omitempty"`
	// ErrorCode is empty when the call succeeded.
	ErrorCode    string    `json:"error_code,omitempty"`
	ErrorMessage string    `json:"error_message,omitempty"`
	StartedAt    time.Time `json:"started_at"`
	// Assigned names the variables that the answer set.
	Assigned []string `json:"assigned,omitempty"`
	// Approval says who allowed or denied the call; nil when it needed no approval.
	Approval *CallApproval `json:"approval,omitempty"`
}

// Made reports whether the call was made, or may have been.
func (r CallResult) Made() bool {
	return r.ErrorCode == "" || r.Attempts > 0 || r.ErrorCode == CodeUnknown
}

// Audio describes an item that was spoken.
type Audio struct {
	// LengthMS is the length of the audio; 0 when it is not known.
	LengthMS int `json:"length_ms,omitempty"`
	// Transcribed says that the item's text is what was spoken.
	Transcribed bool `json:"transcribed,omitempty"`
}

// AgentText returns everything the agent said in the messages.
func AgentText(messages []Message) string {
	var said []string
	for _, m := range messages {
		if m.Role == RoleAssistant && m.Text != "" && !m.Inserted {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, BetweenMessages)
}

// UserText joins what the user said in the messages.
func UserText(messages []Message) string {
	var said []string
	for _, m := range messages {
		if m.Role == RoleUser && m.Text != "" {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, "\n")
}

// OperatorText returns what a person said to the user in the messages.
func OperatorText(messages []Message) string {
	var said []string
	for _, m := range messages {
		if m.Role == RoleOperator && !m.Note && m.Text != "" {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, BetweenMessages)
}

// IsClients reports whether a client wrote the message: the user's words, a note of the
// application, or words that it put into the agent's mouth. Results of its tools are data from
// outside, like those of other tools.
func (m Message) IsClients() bool {
	return m.Role == RoleUser || m.Role == RoleSystem || m.Role == RoleAssistant && m.Inserted
}

// ClientText joins what clients wrote in the messages: texts, and the names and arguments of calls.
func ClientText(messages []Message) string {
	var written []string
	for _, m := range messages {
		if !m.IsClients() {
			continue
		}
		if m.Text != "" {
			written = append(written, m.Text)
		}
		for _, call := range m.Calls {
			written = append(append(written, call.Name), jsonvalue.Strings(call.Arguments)...)
		}
	}
	return strings.Join(written, BetweenMessages)
}
