from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from parlance.v1 import agents_pb2 as _agents_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AttachSourcesRequest(_message.Message):
    __slots__ = ["agent_id", "source_ids", "tags", "usage_mode", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_IDS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    USAGE_MODE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    source_ids: _containers.RepeatedScalarFieldContainer[str]
    tags: _agents_pb2.TagFilter
    usage_mode: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., source_ids: _Optional[_Iterable[str]] = ..., usage_mode: _Optional[str] = ..., tags: _Optional[_Union[_agents_pb2.TagFilter, _Mapping]] = ...) -> None: ...

class AttachSourcesResponse(_message.Message):
    __slots__ = ["attachments", "next_page_token"]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    attachments: _containers.RepeatedCompositeFieldContainer[SourceAttachment]
    next_page_token: str
    def __init__(self, attachments: _Optional[_Iterable[_Union[SourceAttachment, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ["char_end", "char_start", "content", "disabled", "heading", "id", "index", "page_end", "page_start", "source_id", "token_count"]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PAGE_END_FIELD_NUMBER: _ClassVar[int]
    PAGE_START_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    char_end: int
    char_start: int
    content: str
    disabled: bool
    heading: str
    id: str
    index: int
    page_end: int
    page_start: int
    source_id: str
    token_count: int
    def __init__(self, id: _Optional[str] = ..., source_id: _Optional[str] = ..., index: _Optional[int] = ..., content: _Optional[str] = ..., token_count: _Optional[int] = ..., heading: _Optional[str] = ..., page_start: _Optional[int] = ..., page_end: _Optional[int] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ..., disabled: bool = ...) -> None: ...

class CreateInlineSourceRequest(_message.Message):
    __slots__ = ["content", "name", "tags", "workspace_id"]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    content: str
    name: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateKnowledgeEvaluationRequest(_message.Message):
    __slots__ = ["agent_id", "min_similarity", "name", "questions", "rankings", "tags", "top_k", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    RANKINGS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    min_similarity: float
    name: str
    questions: _containers.RepeatedCompositeFieldContainer[EvaluationQuestion]
    rankings: _containers.RepeatedScalarFieldContainer[str]
    tags: _agents_pb2.TagFilter
    top_k: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., rankings: _Optional[_Iterable[str]] = ..., tags: _Optional[_Union[_agents_pb2.TagFilter, _Mapping]] = ..., questions: _Optional[_Iterable[_Union[EvaluationQuestion, _Mapping]]] = ...) -> None: ...

class CreateSitemapSourcesRequest(_message.Message):
    __slots__ = ["max_pages", "refresh_every", "tags", "url", "workspace_id"]
    MAX_PAGES_FIELD_NUMBER: _ClassVar[int]
    REFRESH_EVERY_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    max_pages: int
    refresh_every: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., url: _Optional[str] = ..., max_pages: _Optional[int] = ..., refresh_every: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateSitemapSourcesResponse(_message.Message):
    __slots__ = ["pages_found", "pages_known", "sources"]
    PAGES_FOUND_FIELD_NUMBER: _ClassVar[int]
    PAGES_KNOWN_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    pages_found: int
    pages_known: int
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., pages_found: _Optional[int] = ..., pages_known: _Optional[int] = ...) -> None: ...

class CreateUrlSourceRequest(_message.Message):
    __slots__ = ["name", "refresh_every", "tags", "url", "workspace_id"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REFRESH_EVERY_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    refresh_every: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    url: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., url: _Optional[str] = ..., name: _Optional[str] = ..., refresh_every: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteKnowledgeEvaluationRequest(_message.Message):
    __slots__ = ["evaluation_id", "workspace_id"]
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., evaluation_id: _Optional[str] = ...) -> None: ...

class DeleteSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class DetachSourceRequest(_message.Message):
    __slots__ = ["agent_id", "source_id", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class DownloadSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class DownloadSourceResponse(_message.Message):
    __slots__ = ["data"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class EmbeddingStatus(_message.Message):
    __slots__ = ["answering_model", "chunks_done", "chunks_total", "error", "sources_done", "sources_total", "started_at", "target_model"]
    ANSWERING_MODEL_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_DONE_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SOURCES_DONE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    TARGET_MODEL_FIELD_NUMBER: _ClassVar[int]
    answering_model: str
    chunks_done: int
    chunks_total: int
    error: str
    sources_done: int
    sources_total: int
    started_at: _timestamp_pb2.Timestamp
    target_model: str
    def __init__(self, answering_model: _Optional[str] = ..., target_model: _Optional[str] = ..., sources_total: _Optional[int] = ..., sources_done: _Optional[int] = ..., chunks_total: _Optional[int] = ..., chunks_done: _Optional[int] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., error: _Optional[str] = ...) -> None: ...

class EvaluationChange(_message.Message):
    __slots__ = ["better", "hit_rate_change", "mrr_change", "ranking", "ranking_before", "same", "worse"]
    BETTER_FIELD_NUMBER: _ClassVar[int]
    HIT_RATE_CHANGE_FIELD_NUMBER: _ClassVar[int]
    MRR_CHANGE_FIELD_NUMBER: _ClassVar[int]
    RANKING_BEFORE_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    SAME_FIELD_NUMBER: _ClassVar[int]
    WORSE_FIELD_NUMBER: _ClassVar[int]
    better: _containers.RepeatedCompositeFieldContainer[EvaluationMove]
    hit_rate_change: float
    mrr_change: float
    ranking: str
    ranking_before: str
    same: int
    worse: _containers.RepeatedCompositeFieldContainer[EvaluationMove]
    def __init__(self, ranking: _Optional[str] = ..., ranking_before: _Optional[str] = ..., hit_rate_change: _Optional[float] = ..., mrr_change: _Optional[float] = ..., same: _Optional[int] = ..., better: _Optional[_Iterable[_Union[EvaluationMove, _Mapping]]] = ..., worse: _Optional[_Iterable[_Union[EvaluationMove, _Mapping]]] = ...) -> None: ...

class EvaluationComparison(_message.Message):
    __slots__ = ["changes", "compared_to", "only_here", "only_there"]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    COMPARED_TO_FIELD_NUMBER: _ClassVar[int]
    ONLY_HERE_FIELD_NUMBER: _ClassVar[int]
    ONLY_THERE_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[EvaluationChange]
    compared_to: str
    only_here: int
    only_there: int
    def __init__(self, compared_to: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[EvaluationChange, _Mapping]]] = ..., only_here: _Optional[int] = ..., only_there: _Optional[int] = ...) -> None: ...

class EvaluationMetrics(_message.Message):
    __slots__ = ["hit_rate", "hits", "mrr", "ranking"]
    HITS_FIELD_NUMBER: _ClassVar[int]
    HIT_RATE_FIELD_NUMBER: _ClassVar[int]
    MRR_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    hit_rate: float
    hits: int
    mrr: float
    ranking: str
    def __init__(self, ranking: _Optional[str] = ..., hit_rate: _Optional[float] = ..., mrr: _Optional[float] = ..., hits: _Optional[int] = ...) -> None: ...

class EvaluationMove(_message.Message):
    __slots__ = ["q", "rank", "rank_before"]
    Q_FIELD_NUMBER: _ClassVar[int]
    RANK_BEFORE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    q: str
    rank: int
    rank_before: int
    def __init__(self, q: _Optional[str] = ..., rank_before: _Optional[int] = ..., rank: _Optional[int] = ...) -> None: ...

class EvaluationPlace(_message.Message):
    __slots__ = ["outcome", "rank", "ranking", "similarity", "source_id"]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    outcome: str
    rank: int
    ranking: str
    similarity: float
    source_id: str
    def __init__(self, ranking: _Optional[str] = ..., rank: _Optional[int] = ..., source_id: _Optional[str] = ..., similarity: _Optional[float] = ..., outcome: _Optional[str] = ...) -> None: ...

class EvaluationQuestion(_message.Message):
    __slots__ = ["q", "source_ids", "source_names"]
    Q_FIELD_NUMBER: _ClassVar[int]
    SOURCE_IDS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAMES_FIELD_NUMBER: _ClassVar[int]
    q: str
    source_ids: _containers.RepeatedScalarFieldContainer[str]
    source_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, q: _Optional[str] = ..., source_ids: _Optional[_Iterable[str]] = ..., source_names: _Optional[_Iterable[str]] = ...) -> None: ...

class EvaluationResult(_message.Message):
    __slots__ = ["places", "q", "source_ids"]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    SOURCE_IDS_FIELD_NUMBER: _ClassVar[int]
    places: _containers.RepeatedCompositeFieldContainer[EvaluationPlace]
    q: str
    source_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, q: _Optional[str] = ..., source_ids: _Optional[_Iterable[str]] = ..., places: _Optional[_Iterable[_Union[EvaluationPlace, _Mapping]]] = ...) -> None: ...

class GetEmbeddingStatusRequest(_message.Message):
    __slots__ = ["workspace_id"]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ...) -> None: ...

class GetKnowledgeEvaluationRequest(_message.Message):
    __slots__ = ["compare_to", "evaluation_id", "workspace_id"]
    COMPARE_TO_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    compare_to: str
    evaluation_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., evaluation_id: _Optional[str] = ..., compare_to: _Optional[str] = ...) -> None: ...

class GetSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class KnowledgeEvaluation(_message.Message):
    __slots__ = ["agent_id", "comparison", "created_at", "duration_ms", "embedding_model", "id", "metrics", "min_similarity", "name", "question_count", "results", "top_k", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUESTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    comparison: EvaluationComparison
    created_at: _timestamp_pb2.Timestamp
    duration_ms: int
    embedding_model: str
    id: str
    metrics: _containers.RepeatedCompositeFieldContainer[EvaluationMetrics]
    min_similarity: float
    name: str
    question_count: int
    results: _containers.RepeatedCompositeFieldContainer[EvaluationResult]
    top_k: int
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., name: _Optional[str] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., question_count: _Optional[int] = ..., embedding_model: _Optional[str] = ..., metrics: _Optional[_Iterable[_Union[EvaluationMetrics, _Mapping]]] = ..., results: _Optional[_Iterable[_Union[EvaluationResult, _Mapping]]] = ..., comparison: _Optional[_Union[EvaluationComparison, _Mapping]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class ListChunksRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "source_id", "workspace_id"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListChunksResponse(_message.Message):
    __slots__ = ["chunks", "next_page_token"]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[Chunk]
    next_page_token: str
    def __init__(self, chunks: _Optional[_Iterable[_Union[Chunk, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListKnowledgeEvaluationsRequest(_message.Message):
    __slots__ = ["agent_id", "page_size", "page_token", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class ListKnowledgeEvaluationsResponse(_message.Message):
    __slots__ = ["evaluations", "next_page_token"]
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[KnowledgeEvaluation]
    next_page_token: str
    def __init__(self, evaluations: _Optional[_Iterable[_Union[KnowledgeEvaluation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSourceAttachmentsRequest(_message.Message):
    __slots__ = ["agent_id", "page_size", "page_token", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSourceAttachmentsResponse(_message.Message):
    __slots__ = ["attachments", "next_page_token"]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    attachments: _containers.RepeatedCompositeFieldContainer[SourceAttachment]
    next_page_token: str
    def __init__(self, attachments: _Optional[_Iterable[_Union[SourceAttachment, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ["order_by", "page_size", "page_token", "q", "status", "tags", "workspace_id"]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    order_by: str
    page_size: int
    page_token: str
    q: str
    status: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[str] = ..., q: _Optional[str] = ..., order_by: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ["next_page_token", "sources"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class QueryExplanation(_message.Message):
    __slots__ = ["best_similarity", "message", "outcome", "similarity_place", "source_id", "word_place"]
    BEST_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_PLACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORD_PLACE_FIELD_NUMBER: _ClassVar[int]
    best_similarity: float
    message: str
    outcome: str
    similarity_place: int
    source_id: str
    word_place: int
    def __init__(self, source_id: _Optional[str] = ..., outcome: _Optional[str] = ..., best_similarity: _Optional[float] = ..., message: _Optional[str] = ..., similarity_place: _Optional[int] = ..., word_place: _Optional[int] = ...) -> None: ...

class QueryKnowledgeRequest(_message.Message):
    __slots__ = ["agent_id", "explain", "explain_source_id", "min_similarity", "q", "ranking", "rerank", "tags", "top_k", "workspace_id"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    explain: bool
    explain_source_id: str
    min_similarity: float
    q: str
    ranking: str
    rerank: bool
    tags: _agents_pb2.TagFilter
    top_k: int
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., q: _Optional[str] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., ranking: _Optional[str] = ..., explain: bool = ..., explain_source_id: _Optional[str] = ..., rerank: bool = ..., tags: _Optional[_Union[_agents_pb2.TagFilter, _Mapping]] = ...) -> None: ...

class QueryKnowledgeResponse(_message.Message):
    __slots__ = ["chunks", "embedding_model", "explanation", "ranking", "rerank"]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[ScoredChunk]
    embedding_model: str
    explanation: QueryExplanation
    ranking: str
    rerank: str
    def __init__(self, chunks: _Optional[_Iterable[_Union[ScoredChunk, _Mapping]]] = ..., explanation: _Optional[_Union[QueryExplanation, _Mapping]] = ..., rerank: _Optional[str] = ..., ranking: _Optional[str] = ..., embedding_model: _Optional[str] = ...) -> None: ...

class RefreshSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class ReplaceSourceContentMetadata(_message.Message):
    __slots__ = ["filename", "force_ocr", "media_type", "name", "ocr_languages", "source_id", "tags", "workspace_id"]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_OCR_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OCR_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    filename: str
    force_ocr: bool
    media_type: str
    name: str
    ocr_languages: _containers.RepeatedScalarFieldContainer[str]
    source_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ..., filename: _Optional[str] = ..., media_type: _Optional[str] = ..., name: _Optional[str] = ..., force_ocr: bool = ..., ocr_languages: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class ReplaceSourceContentRequest(_message.Message):
    __slots__ = ["data", "metadata"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    metadata: ReplaceSourceContentMetadata
    def __init__(self, metadata: _Optional[_Union[ReplaceSourceContentMetadata, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class ReprocessSourceRequest(_message.Message):
    __slots__ = ["force_ocr", "ocr_languages", "source_id", "workspace_id"]
    FORCE_OCR_FIELD_NUMBER: _ClassVar[int]
    OCR_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    force_ocr: bool
    ocr_languages: _containers.RepeatedScalarFieldContainer[str]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ..., force_ocr: bool = ..., ocr_languages: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class ScoredChunk(_message.Message):
    __slots__ = ["char_end", "char_start", "content", "fused_score", "heading", "id", "index", "page_end", "page_start", "rerank_score", "similarity", "similarity_place", "source_id", "source_name", "token_count", "word_place", "word_score"]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    FUSED_SCORE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PAGE_END_FIELD_NUMBER: _ClassVar[int]
    PAGE_START_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_PLACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    WORD_PLACE_FIELD_NUMBER: _ClassVar[int]
    WORD_SCORE_FIELD_NUMBER: _ClassVar[int]
    char_end: int
    char_start: int
    content: str
    fused_score: float
    heading: str
    id: str
    index: int
    page_end: int
    page_start: int
    rerank_score: float
    similarity: float
    similarity_place: int
    source_id: str
    source_name: str
    token_count: int
    word_place: int
    word_score: float
    def __init__(self, id: _Optional[str] = ..., source_id: _Optional[str] = ..., source_name: _Optional[str] = ..., similarity: _Optional[float] = ..., index: _Optional[int] = ..., content: _Optional[str] = ..., token_count: _Optional[int] = ..., heading: _Optional[str] = ..., page_start: _Optional[int] = ..., page_end: _Optional[int] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ..., similarity_place: _Optional[int] = ..., word_place: _Optional[int] = ..., word_score: _Optional[float] = ..., fused_score: _Optional[float] = ..., rerank_score: _Optional[float] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ["chunk_count", "content", "created_at", "embedding_model", "error", "fetch_error", "fetched_at", "heartbeat_at", "id", "kind", "language", "media_type", "name", "next_fetch_at", "ocr_languages", "ocr_page_count", "page_count", "pages_done", "previous", "progress", "ready_at", "refresh_every", "replacing", "reprocess_queued", "sha256", "size_bytes", "stage", "status", "tags", "updated_at", "url", "warnings", "workspace_id"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FETCHED_AT_FIELD_NUMBER: _ClassVar[int]
    FETCH_ERROR_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEXT_FETCH_AT_FIELD_NUMBER: _ClassVar[int]
    OCR_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    OCR_PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PAGES_DONE_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    READY_AT_FIELD_NUMBER: _ClassVar[int]
    REFRESH_EVERY_FIELD_NUMBER: _ClassVar[int]
    REPLACING_FIELD_NUMBER: _ClassVar[int]
    REPROCESS_QUEUED_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    content: str
    created_at: _timestamp_pb2.Timestamp
    embedding_model: str
    error: SourceError
    fetch_error: str
    fetched_at: _timestamp_pb2.Timestamp
    heartbeat_at: _timestamp_pb2.Timestamp
    id: str
    kind: str
    language: str
    media_type: str
    name: str
    next_fetch_at: _timestamp_pb2.Timestamp
    ocr_languages: _containers.RepeatedScalarFieldContainer[str]
    ocr_page_count: int
    page_count: int
    pages_done: int
    previous: SourceContent
    progress: int
    ready_at: _timestamp_pb2.Timestamp
    refresh_every: str
    replacing: bool
    reprocess_queued: bool
    sha256: str
    size_bytes: int
    stage: str
    status: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    updated_at: _timestamp_pb2.Timestamp
    url: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    workspace_id: str
    def __init__(self, id: _Optional[str] = ..., workspace_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ..., status: _Optional[str] = ..., stage: _Optional[str] = ..., progress: _Optional[int] = ..., heartbeat_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., embedding_model: _Optional[str] = ..., error: _Optional[_Union[SourceError, _Mapping]] = ..., content: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., ready_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., pages_done: _Optional[int] = ..., ocr_page_count: _Optional[int] = ..., language: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., previous: _Optional[_Union[SourceContent, _Mapping]] = ..., replacing: bool = ..., reprocess_queued: bool = ..., ocr_languages: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., url: _Optional[str] = ..., refresh_every: _Optional[str] = ..., fetched_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., next_fetch_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., fetch_error: _Optional[str] = ...) -> None: ...

class SourceAttachment(_message.Message):
    __slots__ = ["agent_id", "created_at", "source_id", "source_name", "status", "usage_mode"]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    USAGE_MODE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    created_at: _timestamp_pb2.Timestamp
    source_id: str
    source_name: str
    status: str
    usage_mode: str
    def __init__(self, agent_id: _Optional[str] = ..., source_id: _Optional[str] = ..., source_name: _Optional[str] = ..., status: _Optional[str] = ..., usage_mode: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SourceContent(_message.Message):
    __slots__ = ["kind", "media_type", "sha256", "size_bytes"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    media_type: str
    sha256: str
    size_bytes: int
    def __init__(self, kind: _Optional[str] = ..., media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...

class SourceError(_message.Message):
    __slots__ = ["code", "message"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class UpdateChunkRequest(_message.Message):
    __slots__ = ["chunk_id", "disabled", "source_id", "workspace_id"]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    disabled: bool
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ..., chunk_id: _Optional[str] = ..., disabled: bool = ...) -> None: ...

class UpdateSourceRequest(_message.Message):
    __slots__ = ["content", "name", "refresh_every", "source_id", "tags", "update_mask", "workspace_id"]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REFRESH_EVERY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    content: str
    name: str
    refresh_every: str
    source_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    update_mask: _field_mask_pb2.FieldMask
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., refresh_every: _Optional[str] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UploadSourceMetadata(_message.Message):
    __slots__ = ["filename", "force_ocr", "media_type", "name", "ocr_languages", "tags", "workspace_id"]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_OCR_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OCR_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    filename: str
    force_ocr: bool
    media_type: str
    name: str
    ocr_languages: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., filename: _Optional[str] = ..., media_type: _Optional[str] = ..., name: _Optional[str] = ..., force_ocr: bool = ..., ocr_languages: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class UploadSourceRequest(_message.Message):
    __slots__ = ["data", "metadata"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    metadata: UploadSourceMetadata
    def __init__(self, metadata: _Optional[_Union[UploadSourceMetadata, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class WatchSourceRequest(_message.Message):
    __slots__ = ["source_id", "workspace_id"]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    workspace_id: str
    def __init__(self, workspace_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class WatchSourceResponse(_message.Message):
    __slots__ = ["source", "type"]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    source: Source
    type: str
    def __init__(self, type: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...
