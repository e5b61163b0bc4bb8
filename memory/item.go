package memory

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// ID is the id of a memory: mem_….
type ID string

// Kind is the kind of a memory.
type Kind string

// The kinds.
const (
	Note      Kind = "note"
	Statement Kind = "statement"
)

// Status is the state of a memory, as drawn in the package comment.
type Status string

// The statuses.
const (
	Active     Status = "active"
	Pending    Status = "pending"
	Superseded Status = "superseded"
)

// The authors of memories.
const (
	ByModel      = "model"
	ByExtraction = "extraction"
	ByOperator   = "operator"
)

// Limits of one memory and of a user. The lengths are those of the schemas of the tools.
const (
	MaxUserIDChars    = 256
	MaxNoteChars      = 2000
	MaxStatementChars = 1000
	MaxCategoryChars  = 50
	MaxTags           = 10
	MaxTagChars       = 50
	// DefaultMaxPerUser bounds the memories of a user that are active or pending.
	DefaultMaxPerUser = 10_000
	// maxHistory bounds the superseded memories of one slot.
	maxHistory = 10
)

// Item is one memory.
type Item struct {
	bun.BaseModel `bun:"table:memories,alias:m"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	UserID      string              `bun:"user_id"`
	Kind        Kind                `bun:"kind"`
	Status      Status              `bun:"status"`
	Text        string              `bun:"text"`
	// Category and Attribute are in lower case, with single spaces.
	Category   string   `bun:"category"`
	Attribute  string   `bun:"attribute"`
	Tags       []string `bun:"tags,array"`
	Confidence float64  `bun:"confidence"`
	// Slot and Meaning: see meaning.go.
	Slot      string `bun:"slot"`
	Meaning   string `bun:"meaning"`
	CreatedBy string `bun:"created_by"`
	AgentID   string `bun:"agent_id"`
	SessionID string `bun:"session_id"`
	TurnID    string `bun:"turn_id"`
	// SupersededBy is the memory that superseded this one.
	SupersededBy ID        `bun:"superseded_by"`
	ExpiresAt    time.Time `bun:"expires_at,nullzero"`
	CreatedAt    time.Time `bun:"created_at"`
	UpdatedAt    time.Time `bun:"updated_at"`
	// EmbeddingModel is the model of the vector. Empty when there is no vector yet.
	EmbeddingModel string `bun:"embedding_model,scanonly"`
}

// expired says that the memory must not be used any more.
func (i Item) expired(now time.Time) bool { return !i.ExpiresAt.IsZero() && !i.ExpiresAt.After(now) }

// AddParams is a new memory.
type AddParams struct {
	UserID string
	Kind   Kind
	Text   string
	// Category, Attribute and Tags may be empty.
	Category  string
	Attribute string
	Tags      []string
	// Confidence is from 0 to 1.
	Confidence float64
	// ExpiresAt zero means never.
	ExpiresAt time.Time
	// Pending memories wait for a confirmation.
	Pending   bool
	CreatedBy string
	// AgentID, SessionID and TurnID are where the memory was made. They are empty for those of
	// operators.
	AgentID   string
	SessionID string
	TurnID    string
	// id is empty for the id of the request.
	id ID
}

// normalize returns p with defaults and normal spelling. Errors: Invalid invalid-request.
func (p AddParams) normalize(now time.Time) (AddParams, error) {
	if p.Kind == "" {
		p.Kind = Note
	}
	if p.CreatedBy == "" {
		p.CreatedBy = ByOperator
	}
	p.Text = strings.TrimSpace(p.Text)
	p.Category, p.Attribute = foldName(p.Category), foldName(p.Attribute)
	var fields []fault.Field
	add := func(field, code, message string) {
		fields = append(fields, fault.Field{Field: field, Code: code, Message: message})
	}
	if !validUser(p.UserID) {
		add("user_id", "length", "A user id has 1 to 256 characters.")
	}
	maxChars := MaxNoteChars
	if p.Kind == Statement {
		maxChars = MaxStatementChars
	}
	switch {
	case p.Kind != Note && p.Kind != Statement:
		add("kind", "in", "kind is note or statement.")
	case p.Text == "" || !storable(p.Text):
		add("text", "required", "text needs words, without NUL.")
	case utf8.RuneCountInString(p.Text) > maxChars:
		add("text", "max_len",
			"text is too long: a note has at most 2000 characters, a statement 1000. Say it shorter, or in several.")
	}
	for _, one := range []struct{ field, value string }{{"category", p.Category}, {"attribute", p.Attribute}} {
		if utf8.RuneCountInString(one.value) > MaxCategoryChars || !storable(one.value) {
			add(one.field, "max_len", one.field+" has at most 50 characters.")
		}
	}
	if len(p.Tags) > MaxTags {
		add("tags", "max_items", "There can be at most 10 tags.")
	}
	tags := []string{}
	for _, tag := range p.Tags {
		tag = strings.TrimSpace(tag)
		if tag == "" || utf8.RuneCountInString(tag) > MaxTagChars || !storable(tag) {
			add("tags", "length", "A tag has 1 to 50 characters.")
			break
		}
		tags = append(tags, tag)
	}
	p.Tags = tags
	if p.Confidence < 0 || p.Confidence > 1 || p.Confidence != p.Confidence {
		add("confidence", "range", "confidence is from 0 to 1.")
	}
	if !p.ExpiresAt.IsZero() && !p.ExpiresAt.After(now) {
		add("expires_at", "future", "expires_at must be in the future.")
	}
	if len(fields) > 0 {
		return p, fault.InvalidFields(fields...)
	}
	return p, nil
}

func validUser(id string) bool {
	return id != "" && utf8.RuneCountInString(id) <= MaxUserIDChars && storable(id)
}

// storable says whether Postgres can store a text: UTF-8 without NUL.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
