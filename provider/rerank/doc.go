// Package rerank orders passages by how well they answer a question, through any server that speaks
// POST /v1/rerank: Jina, Cohere, vLLM, Infinity, LocalAI. The answer's results are {index,
// relevance_score}, in any order, under "results" (or, as some have it, "data").
//
// text-embeddings-inference takes {query, texts} at POST /rerank and answers a list of {index,
// score}. It refuses the other form with 422 and names the field that it misses, so the first call
// finds out, and later ones are in its form.
package rerank
