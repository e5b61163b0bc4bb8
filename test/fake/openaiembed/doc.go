// Package openaiembed is a small server on the wire of OpenAI's POST /v1/embeddings: it checks
// the key and the batch size, can refuse some calls first, and answers out of order.
package openaiembed
