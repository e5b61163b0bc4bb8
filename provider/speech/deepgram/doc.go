// Package deepgram transcribes speech while it is spoken, by Deepgram's streaming API.
//
//	GET /v1/listen?encoding=linear16&sample_rate=16000&interim_results=true&…  (WebSocket)
//	► binary messages of samples, KeepAlive while there are none, CloseStream at the end
//	◄ Results (is_final, speech_final), Metadata when all is transcribed
//
// Each utterance has a connection of its own, which ends with CloseStream: Deepgram answers
// Finalize only when it holds enough audio, and CloseStream always. A stream may be opened before
// anybody speaks; Deepgram counts open connections.
//
// Source: developers.deepgram.com, reference "Live audio", and the guides "Audio Keep Alive",
// "Close Stream", "Endpointing" and "Keyterm Prompting". It was tested against a fake of that
// documentation, not against Deepgram.
package deepgram
