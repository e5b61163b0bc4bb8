// Package speech is the contract between a conversation and what hears and speaks for it: services
// that transcribe speech (transcribers) and services that speak text (synthesizers).
//
//	samples at 16 kHz ─► Stream.Write … ─► Partial, Partial, … ─► Stream.Finish ─► Transcript
//	a sentence ─► Synthesizer.Speak ─► Piece, Piece, … (samples at the rate of the voice)
//
// A conversation uses [StreamTranscriber] only, one [Stream] for each utterance. Services that take
// whole utterances implement the smaller [Transcriber]; [Whole] makes a StreamTranscriber of one.
// [Transcribe] transcribes a recording with any StreamTranscriber.
//
// Samples are mono, signed, 16 bits. Transcribers take [HearingRate]; adapters convert if their
// service takes another rate. Synthesizers give the rate that their voice has, which may differ
// from call to call: every [Piece] says its own.
//
// The adapters are the folders beside this file: openai (both directions, every server with
// OpenAI's API), deepgram and realtime (transcribers that stream), elevenlabs and espeak
// (synthesizers). speechtest is the test suite of every adapter. Those with WebSockets (deepgram,
// realtime, elevenlabs) take the client of [SocketClient].
//
// Wrappers: [GuardTranscriber] and [GuardSynthesizer] measure calls and have a circuit breaker.
// [TranscriberChain] and [SynthesizerChain] fail over to the next service. A process puts them
// together so:
//
//	metrics, breaker := speech.NewMetrics(registry), speech.Breaker()
//	hearing := speech.TranscriberChain{Transcribers: []speech.StreamTranscriber{
//		speech.GuardTranscriber(deepgramTranscriber, speech.Guard{Breaker: breaker, …}),
//		speech.GuardTranscriber(speech.Whole(openaiTranscriber), …),
//	}}
//
// [IsHallucination] recognises what Whisper writes when nobody spoke.
//
// Time on the wall bounds calls of services ([Timeouts]) and is measured. Times in transcripts and
// pieces are positions in the audio.
//
// The package does not detect speech, decide turns, cut sentences, cache or play sound.
package speech
