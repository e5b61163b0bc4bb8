// Package model is the contract between a conversation and whatever writes the agent's words:
// a chat model behind a vendor's wire, or the built-in extractive responder.
//
//	Request ──► Provider.Stream ──► TextDelta, TextDelta, … ToolCallReady … ──► Result
//
// A turn with tools is several calls: the core runs what ToolCallReady asked for, appends the
// assistant message and one tool message per call, and calls Stream again.
//
// The adapters are the folders beside this file: openai (every OpenAI-compatible server),
// azure, anthropic, extractive (offline). [Chain] fails over between them, [Guard] keeps calls
// from one that fails, [Probe] tries one out,
// discover finds servers on this machine, modeltest is the suite every adapter passes.
//
// What adapters share lives here: [Draft] (an answer that is coming in, and its bounds),
// [NewToolCall] (arguments that are not JSON), [WireName], [WireID] and [Tool.WireSchema] (what
// vendors refuse a request for), [Party] (which fault a vendor's failure becomes) and [Timeouts]
// (how long a silent server is waited for).
//
// It does not choose prompts, run tools or keep history: that is the conversation's.
package model
