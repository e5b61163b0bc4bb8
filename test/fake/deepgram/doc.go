// Package deepgram is a small server on Deepgram's streaming wire, for tests: GET /v1/listen as a
// WebSocket that takes 16-bit samples and follows the replies of its script, one a connection.
//
//	fake := deepgram.New(t, key, speechtest.Heard{Text: "Hello."})
//	transcriber, err := deepgram.New(deepgram.Config{BaseURL: fake.BaseURL, APIKey: key, Client: …})
//
// Without a script, or at its end, it hears nothing.
package deepgram
