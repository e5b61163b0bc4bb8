package rpc

import (
	"context"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/evaluation"
	"parlance.dev/parlance/knowledge/webpages"
)

type knowledgeServer struct {
	access      Access
	knowledge   *knowledge.Service
	pages       *webpages.Service
	evaluations *evaluation.Service
	stopping    Stopping
}

// NewKnowledge serves KnowledgeService. Its two REST routes that are not JSON are NewUpload and
// NewDownload.
func NewKnowledge(
	access Access, service *knowledge.Service, pages *webpages.Service, evaluations *evaluation.Service, stopping Stopping,
) parlancev1connect.KnowledgeServiceHandler {
	return &knowledgeServer{access: access, knowledge: service, pages: pages, evaluations: evaluations, stopping: stopping}
}

func (s *knowledgeServer) UploadSource(
	ctx context.Context, stream *connect.ClientStream[parlancev1.UploadSourceRequest],
) (*parlancev1.Source, error) {
	return receive(ctx, s, stream, func(*parlancev1.UploadSourceMetadata) string { return "" })
}

func (s *knowledgeServer) ReplaceSourceContent(
	ctx context.Context, stream *connect.ClientStream[parlancev1.ReplaceSourceContentRequest],
) (*parlancev1.Source, error) {
	return receive(ctx, s, stream, (*parlancev1.ReplaceSourceContentMetadata).GetSourceId)
}

// fileMetadata is what the first message of an upload holds.
type fileMetadata interface {
	comparable
	GetWorkspaceId() string
	GetFilename() string
	GetMediaType() string
	GetName() string
	GetForceOcr() bool
	GetTags() []string
	GetOcrLanguages() []string
}

// fileMessage is a message of an upload: metadata, or the next bytes.
type fileMessage[T any, M fileMetadata] interface {
	*T
	GetMetadata() M
	GetData() []byte
}

// receive stores the file of a stream, as a new source or as the content of the one that replaces
// names.
func receive[T any, M fileMetadata, P fileMessage[T, M]](
	ctx context.Context, s *knowledgeServer, stream *connect.ClientStream[T], replaces func(M) string,
) (*parlancev1.Source, error) {
	if !stream.Receive() && stream.Err() != nil {
		return nil, stream.Err()
	}
	var none M
	metadata := P(stream.Msg()).GetMetadata()
	if metadata == none {
		return nil, fault.InvalidField("metadata", "required", "The first message must hold the metadata.")
	}
	ref, err := s.access.Workspace(ctx, metadata.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	source, err := s.knowledge.Upload(ctx, ref, knowledge.UploadParams{
		Filename: metadata.GetFilename(), MediaType: metadata.GetMediaType(), Name: metadata.GetName(), ForceOCR: metadata.GetForceOcr(),
		OCRLanguages: metadata.GetOcrLanguages(), Tags: metadata.GetTags(), Replaces: knowledge.SourceID(replaces(metadata)),
	}, &fileReader[T, M, P]{stream: stream})
	return sourceProto(source), err
}

// fileReader reads the bytes of an upload's messages after the first.
type fileReader[T any, M fileMetadata, P fileMessage[T, M]] struct {
	stream *connect.ClientStream[T]
	left   []byte
}

// Read implements io.Reader. It returns io.EOF only if the caller ended the stream in order.
func (r *fileReader[T, M, P]) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if !r.stream.Receive() {
			if err := r.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		var none M
		message := P(r.stream.Msg())
		if message.GetMetadata() != none {
			return 0, fault.InvalidField("metadata", "repeated", "Only the first message holds metadata.")
		}
		r.left = message.GetData()
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (s *knowledgeServer) CreateInlineSource(ctx context.Context, req *parlancev1.CreateInlineSourceRequest) (*parlancev1.Source, error) {
	source, err := s.knowledge.CreateInline(ctx, refOf(ctx), req.GetName(), req.GetContent(), req.GetTags()...)
	return sourceProto(source), err
}

func (s *knowledgeServer) ListSources(ctx context.Context, req *parlancev1.ListSourcesRequest) (*parlancev1.ListSourcesResponse, error) {
	list, next, err := s.knowledge.List(ctx, refOf(ctx), knowledge.ListParams{
		PageParams: searchParams(req), Status: knowledge.Status(req.GetStatus()), Tags: req.GetTags(),
	})
	return &parlancev1.ListSourcesResponse{Sources: each(list, sourceProto), NextPageToken: next}, err
}

func (s *knowledgeServer) GetSource(ctx context.Context, req *parlancev1.GetSourceRequest) (*parlancev1.Source, error) {
	source, err := s.knowledge.Get(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()))
	return sourceWithContent(source), err
}

func (s *knowledgeServer) DeleteSource(ctx context.Context, req *parlancev1.DeleteSourceRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.knowledge.Delete(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()))
}

func (s *knowledgeServer) UpdateSource(ctx context.Context, req *parlancev1.UpdateSourceRequest) (*parlancev1.Source, error) {
	mask := req.GetUpdateMask()
	updated, err := s.knowledge.Update(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()), knowledge.UpdateParams{
		Name: changed(mask, "name", req.Name), Content: changed(mask, "content", req.Content),
		Tags: changedList(mask, "tags", req.GetTags()), RefreshEvery: changed(mask, "refresh_every", req.RefreshEvery),
	})
	return sourceProto(updated), err
}

func (s *knowledgeServer) RestoreSource(ctx context.Context, req *parlancev1.RestoreSourceRequest) (*parlancev1.Source, error) {
	source, err := s.knowledge.Restore(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()))
	return sourceProto(source), err
}

func (s *knowledgeServer) CreateUrlSource(ctx context.Context, req *parlancev1.CreateUrlSourceRequest) (*parlancev1.Source, error) {
	source, err := s.pages.CreateSource(ctx, refOf(ctx), knowledge.URLParams{
		URL: req.GetUrl(), Name: req.GetName(), RefreshEvery: req.GetRefreshEvery(), Tags: req.GetTags(),
	})
	return sourceProto(source), err
}

func (s *knowledgeServer) CreateSitemapSources(
	ctx context.Context, req *parlancev1.CreateSitemapSourcesRequest,
) (*parlancev1.CreateSitemapSourcesResponse, error) {
	got, err := s.pages.CreateFromSitemap(ctx, refOf(ctx), webpages.SitemapParams{
		URL: req.GetUrl(), MaxPages: int(req.GetMaxPages()), RefreshEvery: req.GetRefreshEvery(), Tags: req.GetTags(),
	})
	return &parlancev1.CreateSitemapSourcesResponse{
		Sources: each(got.Made, sourceProto), PagesFound: int32(got.Found), PagesKnown: int32(got.Known),
	}, err
}

func (s *knowledgeServer) RefreshSource(ctx context.Context, req *parlancev1.RefreshSourceRequest) (*parlancev1.Source, error) {
	source, err := s.knowledge.Refresh(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()))
	return sourceProto(source), err
}

func (s *knowledgeServer) UpdateChunk(ctx context.Context, req *parlancev1.UpdateChunkRequest) (*parlancev1.Chunk, error) {
	chunk, err := s.knowledge.SetChunkDisabled(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()),
		knowledge.ChunkID(req.GetChunkId()), req.GetDisabled())
	return chunkProto(chunk), err
}

func (s *knowledgeServer) ReprocessSource(ctx context.Context, req *parlancev1.ReprocessSourceRequest) (*parlancev1.Source, error) {
	source, err := s.knowledge.Reprocess(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()), knowledge.ReprocessParams{
		ForceOCR: req.GetForceOcr(), OCRLanguages: req.GetOcrLanguages(),
	})
	return sourceProto(source), err
}

// downloadPiece is how many bytes one message of a download has.
const downloadPiece = 64 << 10

func (s *knowledgeServer) DownloadSource(
	ctx context.Context, req *parlancev1.DownloadSourceRequest,
	stream *connect.ServerStream[parlancev1.DownloadSourceResponse],
) error {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return err
	}
	_, r, err := s.knowledge.Open(ctx, ref, knowledge.SourceID(req.GetSourceId()))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	return sendPieces(r, func(piece []byte) error { return stream.Send(&parlancev1.DownloadSourceResponse{Data: piece}) })
}

// sendPieces sends a file in pieces.
func sendPieces(r io.Reader, send func(piece []byte) error) error {
	piece := make([]byte, downloadPiece)
	for {
		n, err := io.ReadFull(r, piece)
		if n > 0 {
			if err := send(piece[:n]); err != nil {
				return err
			}
		}
		// A file's own end only: a part of it that ends too early is an error of the file.
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *knowledgeServer) WatchSource(
	ctx context.Context, req *parlancev1.WatchSourceRequest,
	stream *connect.ServerStream[parlancev1.WatchSourceResponse],
) error {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return err
	}
	return s.stopping.watch(ctx, func(ctx context.Context) error {
		return s.knowledge.Watch(ctx, ref, knowledge.SourceID(req.GetSourceId()), func(source knowledge.Source) error {
			return stream.Send(&parlancev1.WatchSourceResponse{Type: "source.updated", Source: sourceProto(source)})
		})
	})
}

func (s *knowledgeServer) ListChunks(ctx context.Context, req *parlancev1.ListChunksRequest) (*parlancev1.ListChunksResponse, error) {
	list, next, err := s.knowledge.ListChunks(ctx, refOf(ctx), knowledge.SourceID(req.GetSourceId()), pageParams(req))
	return &parlancev1.ListChunksResponse{Chunks: each(list, chunkProto), NextPageToken: next}, err
}

func (s *knowledgeServer) GetEmbeddingStatus(
	ctx context.Context, req *parlancev1.GetEmbeddingStatusRequest,
) (*parlancev1.EmbeddingStatus, error) {
	status, err := s.knowledge.EmbeddingStatus(ctx, refOf(ctx))
	return embeddingStatusProto(status), err
}

func (s *knowledgeServer) QueryKnowledge(
	ctx context.Context, req *parlancev1.QueryKnowledgeRequest,
) (*parlancev1.QueryKnowledgeResponse, error) {
	params, err := queryParams(req)
	if err != nil {
		return nil, err
	}
	answer, err := s.knowledge.Query(ctx, refOf(ctx), params)
	return &parlancev1.QueryKnowledgeResponse{
		Chunks: each(answer.Chunks, foundProto), Explanation: explanationProto(answer.Explanation), Rerank: string(answer.Reranked),
		Ranking: string(answer.Ranking), EmbeddingModel: answer.Model,
	}, err
}

func (s *knowledgeServer) AttachSources(
	ctx context.Context, req *parlancev1.AttachSourcesRequest,
) (*parlancev1.AttachSourcesResponse, error) {
	list, err := s.knowledge.Attach(ctx, refOf(ctx), knowledge.AttachParams{
		AgentID: agents.ID(req.GetAgentId()), UsageMode: knowledge.UsageMode(req.GetUsageMode()), Tags: tagFilter(req.GetTags()),
		SourceIDs: each(req.GetSourceIds(), func(id string) knowledge.SourceID { return knowledge.SourceID(id) }),
	})
	return &parlancev1.AttachSourcesResponse{Attachments: each(list, sourceAttachmentProto)}, err
}

func (s *knowledgeServer) ListSourceAttachments(
	ctx context.Context, req *parlancev1.ListSourceAttachmentsRequest,
) (*parlancev1.ListSourceAttachmentsResponse, error) {
	list, next, err := s.knowledge.ListAttachments(ctx, refOf(ctx), agents.ID(req.GetAgentId()),
		pageParams(req))
	return &parlancev1.ListSourceAttachmentsResponse{Attachments: each(list, sourceAttachmentProto), NextPageToken: next}, err
}

func (s *knowledgeServer) DetachSource(ctx context.Context, req *parlancev1.DetachSourceRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.knowledge.Detach(ctx, refOf(ctx), agents.ID(req.GetAgentId()), knowledge.SourceID(req.GetSourceId()))
}
