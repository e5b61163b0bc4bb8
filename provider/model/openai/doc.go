// Package openai answers with any server that speaks OpenAI's chat completions: OpenAI itself,
// Ollama, LM Studio, vLLM, llama.cpp, gateways.
//
// It uses the official SDK for requests, retries and server-sent events, and is forgiving where
// compatible servers differ: tool calls in pieces or whole, with or without index and id; a
// missing finish reason; usage in the last chunk or nowhere; chunks without choices.
//
// It does not read the environment (the SDK's client would), and does not take part in what
// goes beyond chat completions: images, audio, reasoning items, the Responses API.
package openai
