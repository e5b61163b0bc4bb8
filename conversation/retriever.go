package conversation

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Retriever finds passages for a question. Package knowledge implements it and app joins them.
type Retriever interface {
	// Retrieve returns the passages attached to the agent that bear on the question, best first, and
	// how they were chosen, as far as it came.
	Retrieve(ctx context.Context, ref workspaces.Ref, agentID agents.ID, question string, params RetrieveParams) ([]Passage, *Retrieval, error)
	// Ahead is for one turn, whose search begins before the database has said what the agent has; may be nil.
	Ahead(ref workspaces.Ref, agentID agents.ID) SourcesAhead
}

// SourcesAhead lets a search go by the sources that the agent had when it was asked last.
type SourcesAhead interface {
	// Step asks for those that it has; it belongs into a [postgres.DB.Ask].
	Step() postgres.Step
	// Held says, behind Step, that the search has gone by those. Otherwise it is made anew.
	Held() bool
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
	// Ahead is the turn's; nil: which sources the agent has is asked first.
	Ahead SourcesAhead
}

// Retrieval is how the passages of a turn were chosen. It holds no text.
type Retrieval struct {
	// Ranking is similarity or hybrid, Model the embedding model, Floor the least similarity.
	Ranking string  `json:"ranking"`
	Model   string  `json:"model,omitempty"`
	Floor   float64 `json:"floor"`
	// Rerank is done, failed, not_configured or empty.
	Rerank string           `json:"rerank,omitempty"`
	Chunks []RetrievedChunk `json:"chunks"`
}

// RetrievedChunk is a chunk that was considered, and what became of it. Places count from 1.
type RetrievedChunk struct {
	ChunkID         string   `json:"chunk_id"`
	SourceID        string   `json:"source_id"`
	Similarity      float64  `json:"similarity"`
	SimilarityPlace int      `json:"similarity_place,omitempty"`
	WordPlace       int      `json:"word_place,omitempty"`
	WordScore       float64  `json:"word_score,omitempty"`
	Fused           float64  `json:"fused,omitempty"`
	Rerank          *float64 `json:"rerank,omitempty"`
	// Use is passage, merged, duplicate, over_budget, crowded_out or below_floor.
	Use string `json:"use"`
}

// Passage is a chunk that was found.
type Passage struct {
	SourceID   string
	SourceName string
	ChunkID    string
	Heading    string
	PageStart  int
	PageEnd    int
	// CharStart and CharEnd count characters of the source's extracted text, end exclusive.
	CharStart int
	CharEnd   int
	// Similarity is 0 to 1.
	Similarity float64
	Text       string
}
