// Package model is the contract between a conversation and what writes the answers of an agent: a
// chat model behind the API of a vendor, or the built-in extractive responder.
//
//	Request ──► Provider.Stream ──► TextDelta, TextDelta, … ToolCallReady … ──► Result
//
// A turn with tools is several calls: the core runs what ToolCallReady asked for, appends the
// assistant message and one tool message per call, and calls Stream again.
//
// The adapters are the folders beside this file: openai (every OpenAI-compatible server), azure,
// anthropic, extractive (offline). [Chain] fails over between them, [Guard] is a circuit breaker,
// [Probe] tries one out, discover finds servers on this machine, modeltest is the test suite of
// every adapter.
//
// Adapters share: [Exchange] (one call of a server that streams), [Answer] (what has come of an
// answer, and its bounds), [NewToolCall] (arguments that are not JSON), [WireName], [WireID] and
// [Tool.WireSchema] (what vendors accept), [Party] (the fault for each failure of a vendor) and
// [Timeouts] (how long a server may be silent).
//
// It does not choose prompts, run tools or keep history: package turns does.
package model
