package openai

import (
	"strings"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// voiceEvent takes the events of the socket's call.
func (d *Dialect) voiceEvent(e turns.Event) {
	switch e := e.(type) {
	case voice.SpeechStarted:
		d.send(&speechEvent{head: head{Type: "input_audio_buffer.speech_started"}, ItemID: e.ItemID, AudioStartMS: &e.AtMS})
	case voice.SpeechStopped:
		d.send(&speechEvent{head: head{Type: "input_audio_buffer.speech_stopped"}, ItemID: e.ItemID, AudioEndMS: &e.AtMS})
	case voice.SpeechDropped:
		d.send(&droppedEvent{head{Type: "parlance.speech_dropped"}, e.ItemID, e.Reason})
	case voice.InputCleared:
		d.send(&plainEvent{head{Type: "input_audio_buffer.cleared"}})
	case voice.Transcribed:
		d.send(&transcribedEvent{
			head: head{Type: "conversation.item.input_audio_transcription.completed"}, ItemID: e.ItemID, Transcript: e.Text,
			Usage: transcriptionUsage{Type: "duration", Seconds: e.Seconds},
		})
	case voice.NotTranscribed:
		failed := head{Type: "conversation.item.input_audio_transcription.failed"}
		d.send(&transcriptionEvent{failed, e.ItemID, 0, transcriptionError{
			Type: "transcription_error", Code: string(e.Err.Reason), Message: e.Err.Message,
		}})
	case voice.Audio:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.sendAudio(r, e) })
	case voice.Timing:
		d.send(&timingEvent{
			head{Type: "parlance.timing"}, e.ResponseID, e.EndpointMS, e.TranscriptMS, e.FirstTokenMS, e.FirstAudioMS,
		})
	case voice.SilenceNoted:
		d.send(&speechEvent{
			head: head{Type: "input_audio_buffer.timeout_triggered"}, ItemID: idgen.New(idgen.Item),
			AudioStartMS: &e.FromMS, AudioEndMS: &e.ToMS,
		})
	}
}

// soundMark ends the event_id of a piece of sound: what is before it is the id of the last event
// that is no sound.
const soundMark = "~"

// SeenEvent is the last event that a client has seen that is kept for it, by the event_id that it
// names.
func SeenEvent(eventID string) string { return strings.TrimSuffix(eventID, soundMark) }

// sendAudio sends sound. It is not kept for a client that was away: the frame has no id.
func (d *Dialect) sendAudio(r *openResponse, e voice.Audio) {
	sound := &audioEvent{head{Type: "response.output_audio.delta"}, r.place(e.ItemID), e.Data}
	sound.setEventID(d.lastEventID + soundMark)
	d.step.Send("", sound)
}

// part is a content part of the response, with its text so far.
func (r *openResponse) part(text string) any {
	if r.spoken {
		return audioPart{Type: "audio", Transcript: text}
	}
	return textPart{Type: "text", Text: text}
}

// audio describes the response's messages; nil: they are written.
func (r *openResponse) audio() *sessions.Audio {
	if r.spoken {
		return &sessions.Audio{Transcribed: true}
	}
	return nil
}
