// Package rerank is a fake of a server of POST /v1/rerank, on the wire of Jina, Cohere and their
// kin.
package rerank
