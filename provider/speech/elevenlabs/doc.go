// Package elevenlabs speaks by ElevenLabs' socket for text that is being written.
//
//	GET /v1/text-to-speech/{voice_id}/stream-input?model_id=…&output_format=pcm_24000&…  (WebSocket)
//	► {"text": " ", "voice_settings": …}, {"text": "A sentence. ", "flush": true}, {"text": ""}
//	◄ {"audio": base64, "alignment": {chars, charStartTimesMs, charDurationsMs}} …, {"isFinal": true}
//
// Each call has a connection of its own. When it ends, one is made for the next sentence of the
// same voice, which then waits for no handshake: at most 4 for a voice, for a minute. One that was
// closed meanwhile is replaced by a new one.
//
// The alignment of characters becomes the times of words:
// those of a message count from the beginning of its audio, and a word may begin in one message and
// end in the next.
//
// Source: elevenlabs.io/docs, API reference, Text to Speech, WebSocket. It was tested against a
// fake of that documentation, not against ElevenLabs.
package elevenlabs
