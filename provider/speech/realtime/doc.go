// Package realtime transcribes speech while it is spoken, by a transcription session of OpenAI's
// Realtime API.
//
//	GET /v1/realtime?intent=transcription  (WebSocket)
//	► session.update {type: transcription}, input_audio_buffer.append …, input_audio_buffer.commit
//	◄ conversation.item.input_audio_transcription.delta …, .completed
//
// Turns are detected here, so the server's own detection is off (turn_detection: null), and it
// never says that speech has ended. Each utterance has a connection of its own. Text is only added
// to: partial transcripts are never corrected, and there are no times of words. Models that do not
// stream (gpt-4o-transcribe, whisper-1) send their deltas after the commit.
//
// The API takes samples at 24 kHz only, so they are resampled.
//
// Source: OpenAI's guide "Realtime transcription" and its reference of Realtime events. It was
// tested against a fake of that documentation, not against OpenAI.
package realtime
