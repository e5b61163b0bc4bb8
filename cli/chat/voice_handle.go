package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/audio"
)

// notTranscribed is what to do about a server without a transcriber.
const notTranscribed = "this installation does not transcribe speech. Start it with PARLANCE_STT_BASE_URL set to the base URL of " +
	"a transcriber, such as a Whisper server (docs/models.md says which there are)"

// handle takes an event of the server.
func (v *voiceTalk) handle(ctx context.Context, event voiceEvent) error {
	if err := v.printer.event(event); err != nil {
		return err
	}
	now := v.now()
	switch event.Type {
	case "session.created":
		v.connected = v.last
	case "input_audio_buffer.speech_started":
		v.awaited, v.busy = true, v.last
		return v.cut(ctx)
	case "input_audio_buffer.speech_stopped":
		v.turns.userStopped(v.firstSent.Add(time.Duration(event.AudioEndMS) * time.Millisecond))
	case "input_audio_buffer.committed":
		v.awaited, v.busy = true, v.last
	case "conversation.item.input_audio_transcription.delta":
		v.printer.user(event.ItemID, event.Delta)
	case "conversation.item.input_audio_transcription.completed":
		v.printer.userWhole(event.ItemID, event.Transcript)
		v.turns.transcribed(now)
		if strings.TrimSpace(event.Transcript) == "" {
			v.awaited = false
			v.turns.nothingSaid()
		}
	case "parlance.speech_dropped":
		v.awaited = false
		v.turns.nothingSaid()
	case "conversation.item.input_audio_transcription.failed":
		v.awaited = false
		v.turns.nothingSaid()
		return v.failed(event.Error)
	case "error":
		return v.failed(event.Error)
	default:
		return v.handleAnswer(event, now)
	}
	return nil
}

// handleAnswer takes the events of the agent's answers.
func (v *voiceTalk) handleAnswer(event voiceEvent, now time.Time) error {
	switch event.Type {
	case "response.created":
		v.responses[event.Response.ID], v.awaited = true, false
		v.turns.begin(event.Response.ID)
	case "response.output_audio_transcript.delta", "response.output_text.delta":
		v.turns.said(event.ResponseID, event.ItemID, event.Delta, now)
		v.printer.agentSays(event.ItemID, event.Delta)
	case "response.output_audio.delta":
		return v.play(event, now)
	case "response.output_item.done":
		if event.Item.Type == "mcp_call" || event.Item.Type == "function_call" {
			v.printer.tool(event)
		}
	case "parlance.timing":
		v.turns.times(event.ResponseID, event.serverTimes)
	case "parlance.citations":
		v.printer.sources(citationsOf(event))
	case "response.done":
		delete(v.responses, event.Response.ID)
		v.busy = v.last
		v.turns.done(event.Response.ID)
		if failed := event.Response.StatusDetails.Error; event.Response.Status == "failed" && failed != nil {
			return v.failed(failed)
		}
	}
	return nil
}

// play queues the agent's sound.
func (v *voiceTalk) play(event voiceEvent, now time.Time) error {
	encoded, err := base64.StdEncoding.DecodeString(event.Delta)
	if err != nil {
		return fmt.Errorf("the server sent sound that is no Base64: %w", err)
	}
	decoder := audio.Decoder{Format: audio.Default}
	samples := decoder.AppendDecode(nil, encoded)
	v.turns.sounds(event.ResponseID, event.ItemID, time.Duration(len(samples))*time.Second/sound.RateHz, now)
	v.player.Queue(event.ItemID, samples)
	return nil
}

// failed explains an error of the server. Without a transcriber a person can type; a file cannot.
func (v *voiceTalk) failed(err *voiceError) error {
	if err == nil {
		return nil
	}
	switch {
	case err.Code != string(fault.STTNotConfigured):
		v.printer.warn(v.chat.err, term.Clean(err.Message+" ("+err.Code+")"))
		return nil
	case v.chat.options.voice != microphone:
		return errors.New(notTranscribed)
	case !v.deaf:
		v.deaf = true
		v.printer.warn(v.chat.err, notTranscribed+". Until then, type instead")
	}
	return nil
}

// citationsOf are the passages of an answer.
func citationsOf(event voiceEvent) *parlancev1.CreateTurnResponse {
	turn := &parlancev1.CreateTurnResponse{}
	for _, c := range event.Citations {
		turn.Citations = append(turn.Citations, &parlancev1.Citation{
			SourceName: c.SourceName, Heading: c.Heading, PageStart: c.PageStart, PageEnd: c.PageEnd, Similarity: c.Similarity,
		})
	}
	return turn
}
