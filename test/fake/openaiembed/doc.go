// Package openaiembed is a small server on the wire of OpenAI's POST /v1/embeddings: it checks
// the key and the batch size, can refuse some calls first, and answers out of order. It can also
// stand for a local server, which asks for no key and lists its models.
package openaiembed
