package conversation

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/workspaces"
)

// Retriever finds passages for a question. Package knowledge implements it and app joins them.
type Retriever interface {
	// Retrieve returns the passages attached to the agent that bear on the question, best first.
	Retrieve(ctx context.Context, ref workspaces.Ref, agentID agents.ID, question string, params RetrieveParams) ([]Passage, error)
}

// RetrieveParams are the agent's retrieval settings.
type RetrieveParams struct {
	// TopK is 1 to 50.
	TopK int
	// MinSimilarity nil is the floor of the embedding model.
	MinSimilarity *float64
	// Ranking is similarity or hybrid.
	Ranking string
}

// Passage is a chunk that was found.
type Passage struct {
	SourceID   string
	SourceName string
	ChunkID    string
	Heading    string
	PageStart  int
	PageEnd    int
	// Similarity is 0 to 1.
	Similarity float64
	Text       string
}
