// Package openai calls any server with OpenAI's chat completions API: OpenAI itself, Ollama,
// LM Studio, vLLM, llama.cpp, gateways.
//
// It is a plain client (net/http and server-sent events). The official SDK alone was a third of a
// cold build: decision 0003. It accepts what compatible servers do differently: tool calls in
// pieces or whole, with or without index and id; a missing finish reason; usage in the last chunk
// or nowhere; chunks without choices, with "error": null, or with fields of another type than
// OpenAI's, which are ignored. The conformance suite checks it against test/fake/openaichat.
//
// It covers chat completions with text and tools only: no images, audio, reasoning items or
// Responses API.
package openai
