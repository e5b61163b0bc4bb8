// Package endmodel runs a neural network that judges from the sound whether a speaker has finished:
// Smart Turn v3 (https://github.com/pipecat-ai/smart-turn, BSD 2-Clause), a file that the operator
// has put on the machine. It is run by onnxruntime, a shared library that is loaded at start.
//
//	the last 8 s of an utterance ─► log-mel spectrogram, 80 × 800 ─► network ─► probability
//
// onnxruntime is called through cgo, so only programs built with the tag "onnxruntime" have it:
//
//	CGO_ENABLED=1 go build -tags onnxruntime ./cmd/parlance
//
// In all others [Built] is false and [Open] fails.
//
// One [Model] serves all calls of a process. Its workers, one for two processors, judge one
// utterance at a time each. [Model.Ask] never waits: when the queue is full, or a question has
// waited for too long in it, there is no answer, and the caller decides without one.
//
// It does not know what was said before, or by whom, and keeps nothing.
package endmodel
