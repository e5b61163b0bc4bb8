// Package embeddingtest is the conformance suite of embedding.Embedder: every adapter runs it.
package embeddingtest
