// Package openai embeds through any server that speaks OpenAI's POST /v1/embeddings: OpenAI,
// Ollama, LM Studio, vLLM, LocalAI. It uses the official SDK over a client handed in, and reads
// no environment.
package openai
