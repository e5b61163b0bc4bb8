// Package elevenlabs is a small server on ElevenLabs' wire for speech, for tests: GET
// /v1/text-to-speech/{voice_id}/stream-input as a WebSocket, which follows the replies of its
// script, one a connection.
//
//	fake := elevenlabs.New(t, key, speechtest.Spoken{Pieces: [][]byte{…}})
//	speaker, err := elevenlabs.New(elevenlabs.Config{BaseURL: fake.BaseURL, APIKey: key, …})
//
// It refuses a text that is not flushed, because ElevenLabs would wait for more of it, and speaks
// when an empty text has come.
package elevenlabs
