package sessions

// Retrieval records how the passages of a turn were chosen. It holds no text.
type Retrieval struct {
	// Ranking is similarity or hybrid, Model the embedding model, Floor the least similarity that
	// is used.
	Ranking string  `json:"ranking"`
	Model   string  `json:"model,omitempty"`
	Floor   float64 `json:"floor"`
	// Rerank is done, failed, not_configured or empty.
	Rerank string           `json:"rerank,omitempty"`
	Chunks []RetrievedChunk `json:"chunks"`
}

// RetrievedChunk is a chunk that was considered, and what was done with it. Places count from 1.
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

// Passage is a chunk of a source that was found for a turn.
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

// Citation is a passage that the model was given.
type Citation struct {
	SourceID   string  `json:"source_id"`
	SourceName string  `json:"source_name"`
	ChunkID    string  `json:"chunk_id"`
	Heading    string  `json:"heading,omitempty"`
	PageStart  int     `json:"page_start,omitempty"`
	PageEnd    int     `json:"page_end,omitempty"`
	Similarity float64 `json:"similarity"`
	// Excerpt is at most 500 characters of the passage.
	Excerpt string `json:"excerpt"`
	// Quoted is set by the extractive responder only.
	Quoted bool `json:"quoted,omitempty"`
}
