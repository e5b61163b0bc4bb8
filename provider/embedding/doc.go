// Package embedding is the contract of what turns text into vectors.
//
// Adapters: hashing (built in, offline, lexical) and openai (any server that speaks OpenAI's
// /v1/embeddings). Each passes package embeddingtest. Vectors of two models are never
// compared, so a model's name changes whenever its vectors do.
package embedding
