package live

import (
	"encoding/json"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Command is what a socket asks for: [UserMessage], [ToolOutput], [Approve], [Respond], [Ask],
// [Anticipate], [Cancel], [Configure], [Greet], [Feedback], [Activity], [End], [Insert],
// [Retrieve], [Remove] or [Truncate]. Those of package voice are for its Call, and an engine does
// nothing with them.
type Command interface{ IsCommand() }

// UserMessage is something the user said. It is in Postgres before ItemAdded is sent, and Respond
// has it answered. Messages without a Respond between them become one turn.
type UserMessage struct {
	// CommandID is the client's own id of the command, which Failed gives back; may be empty.
	CommandID string
	// ItemID is the client's id for the item, which no other item that is not removed may have;
	// empty: an id (item_…) is generated.
	ItemID string
	// After is the item that precedes it in what the model sees, AtFront, or empty for the end.
	After string
	// Text has 1 to 32,000 characters. It may be empty when Audio is set: nobody knows the words.
	Text string
	// Audio describes a message that was spoken; nil: it was written.
	Audio *sessions.Audio
}

// isSayable reports whether the message can be stored.
func (m UserMessage) isSayable() bool {
	return m.Audio != nil && m.Text == "" || turns.IsSayable(m.Text)
}

// stored is the message as it is stored.
func (m UserMessage) stored() sessions.Message {
	return sessions.Message{Role: sessions.RoleUser, ItemID: m.ItemID, After: m.After, Text: m.Text, Audio: m.Audio}
}

// ToolOutput is the client's result of a ClientToolCalled, from any socket of the session. With
// Respond the model goes on, once every call of the answer has its result or has timed out. An
// unknown call, and one that has its result already, is answered by Failed.
type ToolOutput struct {
	CommandID string
	ItemID    string
	CallID    string
	// After is as in UserMessage; the model sees the result directly after its call all the same.
	After string
	// Output has at most 256 KiB; the model gets as much of it as of any tool's output.
	Output  string
	IsError bool
	// Respond asks for an answer too, for dialects whose clients do not ask.
	Respond bool
}

// Approve is the client's decision on an ApprovalRequested. The answer then continues by itself.
type Approve struct {
	CommandID string
	RequestID string
	Approved  bool
	// Reason, at most 500 characters, is given to the model when the call was not approved.
	Reason string
}

// Respond asks for an answer to what was said since the last answer. When nothing was said, the
// model is asked to go on.
type Respond struct {
	CommandID string
	// Instructions replace the agent's for this answer; nil keeps them. They apply only when the
	// agent's client_overrides has "instructions", and are ignored otherwise.
	Instructions *string
	// Awaited says that the client waits for this particular answer, so that the Respond is never
	// dropped as a duplicate.
	Awaited bool
	// IfUnanswered makes the Respond do nothing when the user has said nothing since the last
	// answer began.
	IfUnanswered bool
	// ClientTools, when not nil, replace the socket's for this answer.
	ClientTools []model.Tool
	// ToolChoice and MaxOutputTokens are for this answer; empty and 0 keep what is in force. The
	// agent's own bound always holds.
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int
	// Input, when not nil, is what the model sees in place of the conversation.
	Input []InputItem
	// Spoken says that the answer will be spoken: its messages are recorded as speech.
	Spoken bool
	// Heard says when the speech that is answered ended, for the receipt; nil: it was written.
	Heard *turns.Heard
	// OutOfBand asks for an answer that neither the conversation nor the transcript keeps. It does
	// not wait for other answers; at most maxOutOfBand are in progress at once.
	OutOfBand bool
}

// isPlain reports whether the Respond sets no option.
func (r Respond) isPlain() bool {
	return r.Instructions == nil && r.ClientTools == nil && r.ToolChoice == "" && r.MaxOutputTokens == 0 && r.Input == nil && !r.OutOfBand
}

// mayBeDuplicate reports whether another answer serves the client as well.
func (r Respond) mayBeDuplicate() bool { return r.isPlain() && !r.Awaited }

// InputItem is an item of an answer's Input.
type InputItem struct {
	// Reference, when set, is the id of an item of the conversation, and the other fields are
	// empty.
	Reference string
	sessions.Item
}

// Ask is a UserMessage directly followed by a Respond. The message and the turn's begin are nearly
// always written in one round trip.
type Ask struct {
	Message UserMessage
	Respond Respond
}

// Anticipate says what the user has probably said, while it is not certain yet that they have
// finished: the model is asked already. An Ask with the same text gets that answer; everything else
// is as if Anticipate had not come. An empty Text takes it back.
type Anticipate struct{ Text string }

// Cancel stops an answer in progress; what was sent of it stays in the transcript. When there is
// none, it is answered by Failed with the cause ErrNothingToCancel.
type Cancel struct {
	CommandID string
	// ResponseID is an answer in progress; empty is the conversation's.
	ResponseID string
	// Speech says that the user has interrupted the answer by speaking.
	Speech bool
}

// Configure changes the session for the answers this socket asks for, until the socket is gone.
// Changes that the agent does not allow are left out; Configured says what is in force.
type Configure struct {
	CommandID string
	// Overrides are as in POST /sessions; those that client_overrides lists are applied. Values of
	// a wrong type are left out.
	Overrides map[string]json.RawMessage
	// Restore lists overrides, "model" and "voice", that are reset to the values the session began
	// with.
	Restore []string
	// ClientTools replace the tools that the socket runs itself; nil keeps them, empty clears them.
	// They are offered in the answers that this socket asks for. A tool named like one of the
	// agent's is left out.
	ClientTools []model.Tool
	// Variables are dynamic variables that the session does not have yet. They are added when
	// client_overrides has "dynamic_variables", and stay with the session.
	Variables map[string]string
	// ToolChoice and MaxOutputTokens are for the answers that this socket asks for; empty and 0
	// keep what is in force.
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int
}

// Greet sends the agent's first_message, for sockets whose Admission has HoldGreeting. It does
// nothing once the session has a turn.
type Greet struct{}

// Feedback is the user's score of an answer; a later one replaces it. Only an error is answered,
// with Failed.
type Feedback struct {
	CommandID string
	sessions.Feedback
}

// Activity says that the user is active (speaks, types), which restarts the idle time-out.
type Activity struct{}

// SwitchLanguage goes on in the language that the user speaks. Text that names no language is
// ignored.
type SwitchLanguage struct {
	// Tag is a BCP 47 tag.
	Tag string
}

// End closes the session. Closed follows.
type End struct {
	// Failed ends the session as failed instead of completed.
	Failed bool
	// Reason is the end_reason, at most 500 characters.
	Reason string
}

// IsCommand implements Command.
func (UserMessage) IsCommand() {}

// IsCommand implements Command.
func (ToolOutput) IsCommand() {}

// IsCommand implements Command.
func (Approve) IsCommand() {}

// IsCommand implements Command.
func (Respond) IsCommand() {}

// IsCommand implements Command.
func (Ask) IsCommand() {}

// IsCommand implements Command.
func (Anticipate) IsCommand() {}

// IsCommand implements Command.
func (Cancel) IsCommand() {}

// IsCommand implements Command.
func (Configure) IsCommand() {}

// IsCommand implements Command.
func (Greet) IsCommand() {}

// IsCommand implements Command.
func (Feedback) IsCommand() {}

// IsCommand implements Command.
func (Activity) IsCommand() {}

// IsCommand implements Command.
func (SwitchLanguage) IsCommand() {}

// IsCommand implements Command.
func (End) IsCommand() {}
