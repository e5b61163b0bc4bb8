// Package openai embeds through any server that speaks OpenAI's POST /v1/embeddings: OpenAI,
// Ollama, LM Studio, vLLM, LocalAI. It is a plain client over a client handed in; decision 0003
// says why it is not the official SDK.
package openai
