// Package rerank orders passages by how well they answer a question, through any server that speaks
// POST /v1/rerank: Jina, Cohere, vLLM, Infinity, LocalAI, text-embeddings-inference behind a proxy.
// The answer's results are {index, relevance_score}, in any order, under "results" (or, as some
// have it, "data").
package rerank
