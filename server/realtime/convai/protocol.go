package convai

import (
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// dataPause is how long a client has to send its initiation data before the first message goes out
// without. SDKs send it at once; other clients may not send it at all.
const dataPause = time.Second

// Open sends the metadata, which must be the first and for a moment the only event, and offers the
// agent's client tools.
func (d *Dialect) Open() dialect.Step {
	input, output := d.formats()
	d.send(0, "conversation_initiation_metadata", metadata{
		ConversationID: string(d.session.ID),
		OutputFormat:   output.ElevenLabs(), InputFormat: input.ElevenLabs(),
	})
	d.configureVoice()
	if tools := clientTools(d.session.Config); len(tools) > 0 {
		d.step.Command(live.Configure{CommandID: commandTools, ClientTools: tools})
	}
	d.step.Pause, d.step.FramesBeforePause = metadataPause, len(d.step.Frames)
	return d.step.Take()
}

// formatOf is the format of a socket's sound for an agent's: the protocol's clients know no A-law,
// and are sent µ-law instead.
func formatOf(f audio.Format) audio.Format {
	if f.Encoding == audio.ALaw {
		f.Encoding = audio.MuLaw
	}
	return f
}

// configureVoice has the socket's call use the formats that the client was told.
func (d *Dialect) configureVoice() {
	if d.channel == sessions.VoiceChannel {
		input, output := d.formats()
		d.step.Command(voice.Configure{Input: input, Output: output})
	}
}

// formats are those of the socket's sound.
func (d *Dialect) formats() (input, output audio.Format) {
	input, output = voice.Formats(d.session.Config.Voice)
	return formatOf(input), formatOf(output)
}

// clientTools are those of the agent: clients of this protocol cannot declare any.
func clientTools(config agents.Config) []model.Tool {
	offered := make([]model.Tool, len(config.ClientTools))
	for i, t := range config.ClientTools {
		offered[i] = model.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
	}
	return offered
}

// Reopen is Open for the next socket of the same client, which sends its initiation data again.
func (d *Dialect) Reopen(history []sessions.Item) dialect.Step {
	d.history, d.settled, d.initiated, d.returning = history, false, false, true
	return d.Open()
}

// PauseEnded goes on after a pause: behind metadataPause with a ping and dataPause, behind
// dataPause with the greeting.
func (d *Dialect) PauseEnded() dialect.Step {
	if d.settled {
		d.greet()
		return d.step.Take()
	}
	d.settled = true
	d.sendPing()
	if !d.greeted {
		d.step.Pause = dataPause
	}
	return d.step.Take()
}

// Ping is the protocol's own ping; SDKs measure the connection with it.
func (d *Dialect) Ping() dialect.Step {
	if d.settled {
		d.sendPing()
	}
	return d.step.Take()
}

func (d *Dialect) sendPing() {
	d.pings++
	d.pingedAt = d.now()
	d.send(0, "ping", ping{EventID: d.pings, LatencyMS: d.latencyMS})
	d.latencyMS = nil
}

// Missed sends a returning client what was said after the event it saw last, which it names by an
// event_id or by the parlance_event_id of a frame. The parts of one answer share an event_id, so an
// answer that is named by it is sent again, whole.
func (d *Dialect) Missed(lastEventID string) dialect.Step {
	number, part, _ := strings.Cut(lastEventID, ".")
	seen, err := strconv.Atoi(number)
	if err != nil {
		d.refuse("", invalid(typeValue, "last_event_id",
			"last_event_id is an event_id, or a parlance_event_id, of this conversation."))
		return d.step.Take()
	}
	hasWhole := strings.HasPrefix(part, wholeMark)
	said := map[int]string{} // the agent's messages so far, by turn
	for i, item := range d.history {
		switch item.Kind {
		case sessions.UserItem:
			if userEventID(item.TurnIndex) > seen && !d.holdItem(item) {
				d.sendUserMessage(item)
			}
		case sessions.AssistantItem:
			if text := said[item.TurnIndex]; text != "" {
				item.Text = text + messageSeparator + item.Text
			}
			said[item.TurnIndex] = item.Text
			id := agentEventID(item.TurnIndex)
			isMissed := id > seen || id == seen && !hasWhole
			if isMissed && !d.isOfOpenAnswer(item) && isLastOfTurn(d.history[i:]) {
				d.sendMessage(item)
			}
		default: // calls that were made; the client can do nothing about them now
		}
	}
	return d.step.Take()
}

// isOfOpenAnswer reports whether the item is of the open answer, whose frames follow.
func (d *Dialect) isOfOpenAnswer(item sessions.Item) bool {
	return d.response != nil && d.response.turn == item.TurnIndex
}

// isLastOfTurn reports whether the first of the items is the agent's last message of its turn.
func isLastOfTurn(items []sessions.Item) bool {
	for _, later := range items[1:] {
		if later.TurnIndex == items[0].TurnIndex && later.Kind == sessions.AssistantItem {
			return false
		}
	}
	return true
}

// clientEvents are the handlers of a client's events, by type.
var clientEvents = map[string]func(*Dialect, clientEvent){
	"conversation_initiation_client_data": (*Dialect).initiate,
	"user_message":                        (*Dialect).userMessage,
	"multimodal_message":                  (*Dialect).multimodalMessage,
	"user_activity":                       (*Dialect).userActivity,
	"contextual_update":                   (*Dialect).contextualUpdate,
	"client_tool_result":                  (*Dialect).clientToolResult,
	"mcp_tool_approval_result":            (*Dialect).approvalResult,
	"feedback":                            (*Dialect).feedback,
	"pong":                                (*Dialect).pong,
	audioType:                             (*Dialect).hear,
}

// Frame takes a text frame of the client.
func (d *Dialect) Frame(data []byte) dialect.Step {
	e, refused := readEvent(data)
	if refused != nil {
		d.refuse(e.Type, refused)
		return d.step.Take()
	}
	handle, known := clientEvents[e.Type]
	if !known {
		d.refuse("", invalid(typeInvalid, "type", "There is no client event "+dialect.Quote(e.Type)+"."))
		return d.step.Take()
	}
	if e.Type != "conversation_initiation_client_data" && e.Type != "pong" {
		d.greet()
	}
	handle(d, e)
	return d.step.Take()
}

// BinaryFrame refuses a binary frame.
func (d *Dialect) BinaryFrame() dialect.Step {
	d.refuse("", invalid(typeInvalid, "",
		"Events are JSON in text frames; binary frames are not read."))
	return d.step.Take()
}

// Event takes an event of the conversation.
func (d *Dialect) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case live.ItemAdded:
		if !d.holdItem(e.Item) {
			d.sendItem(e.Item)
		}
	case turns.ResponseStarted:
		d.beginResponse(e)
	case turns.ResponseDone:
		d.finishResponse(e)
	case live.AnswerEnded:
		d.endRemoteAnswer(e)
		d.stopAwaiting()
	case live.Configured:
		d.configured(e)
	case live.Failed:
		d.failed(e)
		d.stopAwaiting()
	case live.HandoverChanged:
		d.handoverChanged(e)
	case turns.LeftToOperator:
		d.stopAwaiting()
	case voice.Hearing:
		d.send(0, "tentative_user_transcript", userTranscript{Text: e.Text, EventID: userEventID(d.turns)})
	default:
		if d.response != nil {
			d.responseContent(e)
		}
	}
	return d.step.Take()
}

// closeMessages are the errors that precede a close frame, by its reason.
var closeMessages = map[string]string{
	"reconnect": "This server is being stopped. Connect again with the same URL;" +
		" the conversation goes on.",
	"replaced": "Another connection has taken over this conversation.",
	"frame_too_large": "A frame was too large. Connect again with the same URL," +
		" and send smaller ones.",
	"internal_error": "Something went wrong here. Connect again with the same URL.",
	"session-closed": "The conversation is over.",
	"max_duration":   "The conversation has reached its longest duration.",
}

// Close sends an error with the reason. It sends nothing for a conversation that ended as it
// should: the close frame has the code 1000, which the SDK takes for an end by the agent.
func (d *Dialect) Close(code int, reason string) dialect.Step {
	closing := wireError{
		Code: codeInternal, Type: typeDisconnect, Message: closeMessages[reason],
		Details: errorDetails{Code: reason},
	}
	if closing.Message == "" {
		closing.Message = "The connection is closed: " + reason + "."
	}
	switch {
	case reason == sessions.ReasonMaxDuration:
		closing.Code, closing.Type = codePolicy, typeTooLong
	case code == codeNormal:
		return dialect.Step{}
	case code == codePolicy:
		closing.Code = codePolicy
	case reason == "internal_error":
		closing.Type = typeUnknown
	}
	d.send(0, "error", closing)
	return d.step.Take()
}
