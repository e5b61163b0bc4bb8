// Package elevenlabs is a small server on ElevenLabs' wire for speech, for tests: GET
// /v1/text-to-speech/{voice_id}/stream-input as a WebSocket, which follows the replies of its
// script, one a connection.
//
//	fake := elevenlabs.New(t, key, speechtest.Spoken{Pieces: [][]byte{…}})
//	speaker, err := elevenlabs.New(elevenlabs.Config{BaseURL: fake.BaseURL, APIKey: key, …})
//
// It begins to speak when the text is flushed, and ends when an empty text has come.
package elevenlabs
