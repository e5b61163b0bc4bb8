// Command voice measures spoken conversations with the running service, and writes their part of
// docs/benchmarks.md and docs/benchmarks.json:
//
//	go run ./test/bench/voice                  # about fifteen minutes, ten of them one long call
//	go run ./test/bench/voice -short           # about three minutes; prints, and writes nothing
//	go run ./test/bench/voice -hour            # the long call lasts an hour
//	go run ./test/bench/voice -only crowd      # one part
//
// With -timeline it measures nothing. It records a spoken turn and an interruption, and draws them:
//
//	go run ./test/bench/voice -timeline docs/voice
//
// It starts a private Postgres and Redis, `parlance server` as its own process, and in the process
// of the benchmark the callers and the providers: a transcriber that streams (Deepgram's wire), one
// of whole utterances, a synthesizer and a model (OpenAI's). Their delays are fixed, so what is
// left is our own.
//
// Callers speak in real time, in frames of 20 ms, with voices of flite and espeak-ng; between their
// sentences they send the noise of a quiet room. The end of their speech is when the frame with its
// last sample is due, so a caller that sends late makes the figures worse, not better. The
// transcriber's words are always the same; when they come, and when the mark of the end of the
// sentence comes, follows from the sound that it gets.
//
// The parts are own, whole, interruptions, crowd, hour and hearing.
//
// With more calls than the machine carries, answers come after a filler, whose sound then counts as
// the first one.
//
// It exits with 1 when a figure is over its bound. CPU and memory are read from /proc, so it runs
// on Linux only.
package main
