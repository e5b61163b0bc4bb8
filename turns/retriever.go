package turns

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Retriever finds passages for a question. Package knowledge implements it and app joins them.
type Retriever interface {
	// Search makes a search among what is attached to the agent and passes all filters.
	Search(ref workspaces.Ref, agentID agents.ID, filters []agents.TagFilter) Search
}

// Search is one search for passages.
type Search interface {
	// Steps read what the search begins with, for a pipeline of the caller's. Where they were not
	// run, Retrieve reads it itself.
	Steps() []postgres.Step
	// Retrieve returns the passages that bear on the question, best first, and how they were chosen,
	// as far as it came.
	Retrieve(ctx context.Context, question string, params RetrieveParams) ([]sessions.Passage, *sessions.Retrieval, error)
}

// RetrieveParams are the agent's retrieval settings.
type RetrieveParams struct {
	// TopK is 1 to 50.
	TopK int
	// MinSimilarity nil is the floor of the embedding model.
	MinSimilarity *float64
	// Ranking is similarity or hybrid.
	Ranking string
	// Rerank asks the reranking server, where there is one.
	Rerank bool
}
