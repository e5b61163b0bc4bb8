package rpc

import (
	"math"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
)

func sourceProto(s knowledge.Source) *parlancev1.Source {
	source := &parlancev1.Source{
		Id: string(s.ID), WorkspaceId: string(s.WorkspaceID), Name: s.Name, Kind: string(s.Kind), MediaType: document.BareType(s.MediaType),
		SizeBytes: uint32(min(s.SizeBytes, math.MaxUint32)),
		Sha256:    s.SHA256, Status: string(s.Status), Stage: string(s.Stage),
		Progress:    int32(s.Progress),
		HeartbeatAt: timestamp(s.HeartbeatAt), PageCount: int32(s.PageCount), ChunkCount: int32(s.ChunkCount),
		PagesDone: int32(s.PagesDone), OcrPageCount: int32(s.OCRPageCount),
		Language: s.Language, Warnings: s.Warnings,
		EmbeddingModel: s.EmbeddingModel,
		CreatedAt:      timestamp(s.CreatedAt), UpdatedAt: timestamp(s.UpdatedAt), ReadyAt: timestamp(s.ReadyAt),
		Replacing: s.Replacing, ReprocessQueued: s.ReprocessWanted, OcrLanguages: s.OCRLanguages,
		Tags: s.Tags, Url: s.URL, RefreshEvery: s.RefreshEvery(), FetchedAt: timestamp(s.FetchedAt),
		NextFetchAt: timestamp(s.NextFetch()), FetchError: s.FetchError,
	}
	if s.Previous.BlobKey != "" {
		source.Previous = sourceContentProto(s.Previous)
	}
	if s.ErrorCode != "" {
		source.Error = &parlancev1.SourceError{Code: s.ErrorCode, Message: s.ErrorMessage}
	}
	return source
}

func sourceContentProto(c knowledge.Content) *parlancev1.SourceContent {
	return &parlancev1.SourceContent{
		Kind: string(c.Kind), MediaType: document.BareType(c.MediaType), SizeBytes: uint32(min(c.SizeBytes, math.MaxUint32)), Sha256: c.SHA256,
	}
}

// sourceWithContent is sourceProto for the GET of one source.
func sourceWithContent(s knowledge.Source) *parlancev1.Source {
	source := sourceProto(s)
	if s.Kind == knowledge.KindInline {
		source.Content = &s.Content
	}
	return source
}

func chunkProto(c knowledge.Chunk) *parlancev1.Chunk {
	return &parlancev1.Chunk{
		Id: string(c.ID), SourceId: string(c.SourceID), Index: int32(c.Index), Content: c.Content,
		TokenCount: int32(c.TokenCount), Heading: c.Heading, PageStart: int32(c.PageStart), PageEnd: int32(c.PageEnd),
		CharStart: int32(c.CharStart), CharEnd: int32(c.CharEnd), Disabled: c.Disabled,
	}
}

func foundProto(f knowledge.Found) *parlancev1.ScoredChunk {
	c := chunkProto(f.Chunk)
	return &parlancev1.ScoredChunk{
		Id: c.GetId(), SourceId: c.GetSourceId(), SourceName: f.SourceName, Similarity: f.Similarity, Index: c.GetIndex(),
		Content: c.GetContent(), TokenCount: c.GetTokenCount(), Heading: c.GetHeading(),
		PageStart: c.GetPageStart(), PageEnd: c.GetPageEnd(), CharStart: c.GetCharStart(), CharEnd: c.GetCharEnd(),
		SimilarityPlace: int32Of(f.Scores.SimilarityPlace), WordPlace: int32Of(f.Scores.WordPlace), WordScore: f.Scores.WordScore,
		FusedScore: f.Scores.Fused, RerankScore: f.Scores.Rerank,
	}
}

func embeddingStatusProto(s knowledge.EmbeddingStatus) *parlancev1.EmbeddingStatus {
	return &parlancev1.EmbeddingStatus{
		AnsweringModel: s.AnsweringModel, TargetModel: s.TargetModel,
		SourcesTotal: int32(s.SourcesTotal), SourcesDone: int32(s.SourcesDone),
		ChunksTotal: int32(s.ChunksTotal), ChunksDone: int32(s.ChunksDone),
		StartedAt: timestamp(s.StartedAt), Error: s.Error,
	}
}

func explanationProto(e *knowledge.Explanation) *parlancev1.QueryExplanation {
	if e == nil {
		return nil
	}
	return &parlancev1.QueryExplanation{
		SourceId: string(e.SourceID), Outcome: string(e.Outcome), BestSimilarity: e.BestSimilarity, Message: e.Message,
		SimilarityPlace: int32Of(e.SimilarityPlace), WordPlace: int32Of(e.WordPlace),
	}
}

func sourceAttachmentProto(a knowledge.Attachment) *parlancev1.SourceAttachment {
	return &parlancev1.SourceAttachment{
		AgentId: string(a.AgentID), SourceId: string(a.SourceID), SourceName: a.SourceName, Status: string(a.Status),
		UsageMode: string(a.UsageMode), CreatedAt: timestamp(a.CreatedAt),
	}
}

// queryParams returns the query of a request. A request that names a source to explain need not
// set explain.
func queryParams(req *parlancev1.QueryKnowledgeRequest) (knowledge.QueryParams, error) {
	if req.GetExplain() && req.GetExplainSourceId() == "" {
		return knowledge.QueryParams{}, fault.InvalidField("explain_source_id", "required", "Name the source to explain.")
	}
	return knowledge.QueryParams{
		AgentID: agents.ID(req.GetAgentId()), Question: req.GetQ(), TopK: int(req.GetTopK()),
		MinSimilarity: req.MinSimilarity, Ranking: knowledge.Ranking(req.GetRanking()), Rerank: req.GetRerank(),
		ExplainSourceID: knowledge.SourceID(req.GetExplainSourceId()), Filters: []agents.TagFilter{tagFilter(req.GetTags())},
	}, nil
}
