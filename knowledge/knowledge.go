package knowledge

import (
	"strings"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// SourceID names a source (src_…).
type SourceID string

// ChunkID names a chunk (chk_…).
type ChunkID string

// Kind says how a source came.
type Kind string

// The kinds of sources.
const (
	KindFile   Kind = "file"
	KindInline Kind = "inline"
)

// Status is where a source stands; see the package's drawing.
type Status string

// The states of a source.
const (
	StatusQueued     Status = "queued"
	StatusProcessing Status = "processing"
	StatusReady      Status = "ready"
	StatusFailed     Status = "failed"
)

// Stage is what a run is doing; empty when nothing runs.
type Stage string

// The stages of a run, in order.
const (
	// StageFetching is of runs that ask the source's URL whether it has other content.
	StageFetching Stage = "fetching"
	StageParsing  Stage = "parsing"
	// StageOCR is parsing, as soon as a page is read from its picture.
	StageOCR       Stage = "ocr"
	StageChunking  Stage = "chunking"
	StageEmbedding Stage = "embedding"
)

// UsageMode says how an agent uses an attached source.
type UsageMode string

// The usage modes.
const (
	// UsageAuto retrieves its passages when they are near to the question.
	UsageAuto UsageMode = "auto"
	// UsagePrompt puts its text into every prompt.
	UsagePrompt UsageMode = "prompt"
)

// Source is a file or a pasted text.
type Source struct {
	bun.BaseModel `bun:"table:sources,alias:s"`

	ID          SourceID            `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Name        string              `bun:"name"`
	Kind        Kind                `bun:"kind"`
	// MediaType is one of package document's, perhaps with a charset.
	MediaType string `bun:"media_type"`
	SizeBytes int64  `bun:"size_bytes"`
	// SHA256 of the stored bytes in lower-case hex.
	SHA256  string `bun:"sha256"`
	BlobKey string `bun:"blob_key"`
	Status  Status `bun:"status"`
	Stage   Stage  `bun:"stage"`
	// Progress is 0 to 100.
	Progress int  `bun:"progress"`
	ForceOCR bool `bun:"force_ocr"`
	// OCRLanguages are those of the text in its pictures; empty: those of the installation.
	OCRLanguages []string `bun:"ocr_languages,array,nullzero"`
	// Owner is the token of the run that has claimed the source; empty: none has.
	Owner string `bun:"owner"`
	// HeartbeatAt is when the run last said that it is alive.
	HeartbeatAt time.Time `bun:"heartbeat_at,nullzero"`
	// Attempt counts the runs since it was queued by a person.
	Attempt int `bun:"attempt"`
	// Traceparent and RequestID are of the request that queued it, for its runs (see Origin).
	Traceparent string `bun:"traceparent"`
	RequestID   string `bun:"request_id"`
	// DueAt is when the next run may begin.
	DueAt time.Time `bun:"due_at"`
	// QueuedUntil is until when a task is trusted to be on its way for it; zero: none is.
	QueuedUntil time.Time `bun:"queued_until,nullzero"`
	// PageCount is 0 for types without pages; PagesDone of them are read, OCRPageCount of those
	// from their picture.
	PageCount    int `bun:"page_count"`
	PagesDone    int `bun:"pages_done"`
	OCRPageCount int `bun:"ocr_page_count"`
	// Language of most of the text, BCP-47; empty: not known.
	Language string `bun:"language"`
	// Warnings are sentences about what could not be read while the rest could.
	Warnings       []string `bun:"warnings,array,nullzero"`
	ChunkCount     int      `bun:"chunk_count"`
	EmbeddingModel string   `bun:"embedding_model"`
	// ErrorCode and ErrorMessage say why it failed, or why its last attempt did while it waits for
	// the next; empty otherwise.
	ErrorCode    string    `bun:"error_code"`
	ErrorMessage string    `bun:"error_message"`
	CreatedAt    time.Time `bun:"created_at"`
	UpdatedAt    time.Time `bun:"updated_at"`
	// ReadyAt is when its chunks were last made; zero: it has none.
	ReadyAt time.Time `bun:"ready_at,nullzero"`

	// Tags are in alphabetical order.
	Tags []string `bun:"tags,array,nullzero"`
	// DisabledChunks are the places of chunks that are neither found nor in a prompt, in order.
	DisabledChunks []int32 `bun:"disabled_chunks,array,nullzero"`
	// DisabledTexts are the hashes of the texts that were switched off, which stay off when the source
	// is read again.
	DisabledTexts []string `bun:"disabled_texts,array,nullzero"`

	// URL is where the content is fetched from; empty: it was uploaded or pasted.
	URL string `bun:"url"`
	// RefreshEverySeconds is how often; 0: not by itself.
	RefreshEverySeconds int `bun:"refresh_every_seconds"`
	// FetchDueAt is when it is fetched next; zero: not by itself.
	FetchDueAt time.Time `bun:"fetch_due_at,nullzero"`
	// FetchedAt is when the URL last gave the content, or said that it has not changed. FetchError
	// says why it did not the last time; empty: it did.
	FetchedAt  time.Time `bun:"fetched_at,nullzero"`
	FetchError string    `bun:"fetch_error"`
	// ETag and LastModified are what the server said about the content.
	ETag         string `bun:"etag"`
	LastModified string `bun:"last_modified"`

	// Previous is the content before the last replacement; its BlobKey is empty when there is nothing
	// to go back to. Replacing says that the chunks are of it.
	Previous  Content `bun:"embed:previous_"`
	Replacing bool    `bun:"replacing"`

	// ReprocessWanted says that another run was asked for while one is at work; ReprocessForceOCR and
	// ReprocessOCRLanguages (empty: as before) say how.
	ReprocessWanted       bool     `bun:"reprocess_wanted"`
	ReprocessForceOCR     bool     `bun:"reprocess_force_ocr"`
	ReprocessOCRLanguages []string `bun:"reprocess_ocr_languages,array,nullzero"`

	// Content is the pasted text, filled by Get for inline sources only.
	Content string `bun:"-"`
}

// Ref is the workspace the source belongs to.
func (s Source) Ref() workspaces.Ref { return workspaces.Ref{TenantID: s.TenantID, ID: s.WorkspaceID} }

// Origin is the request that queued the source.
func (s Source) Origin() telemetry.Origin {
	return telemetry.Origin{Traceparent: s.Traceparent, RequestID: s.RequestID}
}

// Usable says whether the source has chunks that answer: it was ready once.
func (s Source) Usable() bool { return !s.ReadyAt.IsZero() }

// Chunk is a passage of a source.
type Chunk struct {
	bun.BaseModel `bun:"table:chunks,alias:c"`

	ID          ChunkID             `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SourceID    SourceID            `bun:"source_id"`
	// Index counts from 0 in reading order.
	Index      int    `bun:"index"`
	Content    string `bun:"content"`
	TokenCount int    `bun:"token_count"`
	// Heading is the path of headings, joined by " > ".
	Heading string `bun:"heading"`
	// PageStart and PageEnd count from 1; 0 for types without pages.
	PageStart int `bun:"page_start"`
	PageEnd   int `bun:"page_end"`
	// CharStart and CharEnd count characters of the extracted text, end exclusive.
	CharStart int `bun:"char_start"`
	CharEnd   int `bun:"char_end"`
	// Model made Embedding.
	Model     string          `bun:"model"`
	Embedding pgvector.Vector `bun:"embedding,type:vector"`
	// Disabled says that it was switched off; see Source.DisabledChunks.
	Disabled bool `bun:"-"`
}

// EmbeddedText is the chunk's content, under its innermost heading when the content does not hold
// it: what stands under "Opening hours" seldom says so again.
func (c Chunk) EmbeddedText() string {
	heading := c.Heading[strings.LastIndex(c.Heading, " > ")+1:]
	heading = strings.TrimSpace(strings.TrimPrefix(heading, "> "))
	if heading == "" || strings.Contains(c.Content, heading) {
		return c.Content
	}
	return heading + "\n\n" + c.Content
}

// Attachment makes a source visible to an agent.
type Attachment struct {
	bun.BaseModel `bun:"table:source_attachments,alias:a"`

	AgentID     agents.ID           `bun:"agent_id,pk"`
	SourceID    SourceID            `bun:"source_id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	UsageMode   UsageMode           `bun:"usage_mode"`
	CreatedAt   time.Time           `bun:"created_at"`

	// SourceName and Status are the source's.
	SourceName string `bun:"source_name,scanonly"`
	Status     Status `bun:"status,scanonly"`
}
