// Package openai answers with any server that speaks OpenAI's chat completions: OpenAI itself,
// Ollama, LM Studio, vLLM, llama.cpp, gateways.
//
// It is a plain client (net/http and server-sent events) rather than the official SDK, which
// alone was a third of a cold build: decision 0003. It is forgiving where compatible servers
// differ: tool calls in pieces or whole, with or without index and id; a missing finish reason;
// usage in the last chunk or nowhere; chunks without choices, with "error": null, or with fields
// of another type than OpenAI's, which are passed over. What it sends and reads is checked
// against test/fake/openaichat by the conformance suite.
//
// It does not take part in what goes beyond chat completions: images, audio, reasoning items,
// the Responses API.
package openai
