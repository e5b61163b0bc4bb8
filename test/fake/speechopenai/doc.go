// Package speechopenai is a small server on OpenAI's audio wire, for tests: POST
// /v1/audio/transcriptions, GET /v1/realtime?intent=transcription as a WebSocket, and POST
// /v1/audio/speech. What hears follows one script, what speaks the other.
//
//	fake := speechopenai.New(t, key)
//	fake.Hearing.Add(speechtest.Heard{Text: "Hello."})
//	fake.Speaking.Add(speechtest.Spoken{Pieces: [][]byte{…}})
//
// Requests that OpenAI would refuse are refused as OpenAI does. [Form] says in which of the
// servers' forms transcripts are written.
package speechopenai
