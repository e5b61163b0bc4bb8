package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
)

// Rows a page. Source: decisions, Addressing and versions.
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
)

// maxTokenBytes is longer than any valid token (the longest holds the id of a user) and keeps a
// hostile one from being decoded.
const maxTokenBytes = 4096

// Order is the direction of a list. Lists are in the order of (created_at, id) unless OrderBy says
// otherwise.
type Order uint8

// The directions of a list.
const (
	OldestFirst Order = iota
	NewestFirst
)

// Key is a row's place in a list. Only lists that take an OrderBy have UpdatedAt and Name.
type Key struct {
	CreatedAt time.Time // microseconds, as Postgres keeps it
	UpdatedAt time.Time
	Name      string
	ID        string
}

// PageParams is what a caller asks for.
type PageParams struct {
	// Size is the number of rows; 0 means DefaultPageSize.
	Size int
	// Token is next_page_token of the page before; empty for the first page.
	Token string
	Order Order
	// OrderBy replaces the order of the list: see orders. Empty keeps it.
	OrderBy string
	// Query is the text that rows must contain: see Containing. Empty for all rows.
	Query string
	// Filters are the other values the list is narrowed by, tenant and workspace first. A token is
	// refused under other filters or another order, where its place would mean nothing.
	Filters []string
}

// TimeFilter returns a time as one of PageParams.Filters, and the empty string for the zero time.
func TimeFilter(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Page is a checked PageParams: apply it to a query, then Cut what the query returned.
type Page struct {
	// After is the last row of the page before; nil on the first page.
	After *Key

	size    int
	order   Order
	column  sortColumn
	query   string
	filters []string
}

// Columns names the columns a list is ordered by, e.g. {CreatedAt: "s.created_at", ID: "s.id"}.
// They are written into the SQL as they are: constants only, never a caller's words.
type Columns struct {
	CreatedAt string
	UpdatedAt string
	Name      string
	ID        string
}

// NewPage checks what the caller asked for. Errors: Invalid invalid-request on page_size (outside
// 0..200), order_by (not one of orders) or page_token (not one of this list's).
func NewPage(params PageParams) (Page, error) {
	page := Page{size: params.Size, order: params.Order, query: params.Query, filters: params.Filters}
	if params.Size < 0 || params.Size > MaxPageSize {
		return Page{}, fault.InvalidField("page_size", "out_of_range", "page_size must be from 1 to %d.", MaxPageSize)
	}
	if params.Size == 0 {
		page.size = DefaultPageSize
	}
	if err := page.setOrder(params.OrderBy); err != nil {
		return Page{}, err
	}
	if params.Token == "" {
		return page, nil
	}
	after, ok := page.parse(params.Token)
	if !ok {
		return Page{}, fault.InvalidField("page_token", "invalid",
			"page_token must be next_page_token of the page before, sent with the same filters.")
	}
	page.After = &after
	return page, nil
}

// Apply orders and bounds q, whose model has the columns created_at and id, and updated_at and name
// if the list takes an OrderBy.
func (p Page) Apply(q *bun.SelectQuery) *bun.SelectQuery {
	return p.ApplyTo(q, Columns{
		CreatedAt: "?TableAlias.created_at", UpdatedAt: "?TableAlias.updated_at", Name: "?TableAlias.name", ID: "?TableAlias.id",
	})
}

// ApplyTo is Apply for a query that names its columns otherwise.
func (p Page) ApplyTo(q *bun.SelectQuery, columns Columns) *bun.SelectQuery {
	direction, comparison := "ASC", ">"
	if p.order == NewestFirst {
		direction, comparison = "DESC", "<"
	}
	column, after := p.sortedBy(columns)
	if p.After != nil {
		q = q.Where("("+column+", "+columns.ID+") "+comparison+" (?, ?)", after, p.After.ID)
	}
	return q.OrderExpr(column + " " + direction + ", " + columns.ID + " " + direction).Limit(int64(p.Limit()))
}

// Limit is the LIMIT of the query: one row more than the page has. Cut sees by it whether there is
// a next page.
func (p Page) Limit() int { return p.size + 1 }

// List reads a page of a list into rows, the model of query, whose columns are those of Apply. It
// returns the rows and the token of the next page: empty when this one is the last.
// Errors: as NewPage, and as MapError leaves them.
func List[T any](
	ctx context.Context, params PageParams, query *bun.SelectQuery, rows *[]T, key func(T) Key,
) (ofPage []T, nextPageToken string, err error) {
	page, err := NewPage(params)
	if err != nil {
		return nil, "", err
	}
	if err := page.Apply(query).Scan(ctx); err != nil {
		return nil, "", MapError(fmt.Errorf("list %T: %w", *rows, err))
	}
	ofPage, nextPageToken = Cut(page, *rows, key)
	return ofPage, nextPageToken, nil
}

// Cut takes the rows of a query bounded by page and returns those of the page, and the token
// of the next page: empty when this one is the last.
func Cut[T any](page Page, rows []T, key func(T) Key) (ofPage []T, nextPageToken string) {
	if len(rows) <= page.size {
		return rows, ""
	}
	rows = rows[:page.size]
	return rows, page.TokenAfter(key(rows[len(rows)-1]))
}

// pageToken is a token before base64url: place and checksum. Micros is the time that the list is
// ordered by; Name is there instead in a list by name.
type pageToken struct {
	Micros   int64  `json:"t"`
	Name     string `json:"n,omitempty"`
	ID       string `json:"i"`
	Checksum string `json:"c"`
}

// TokenAfter is the token of the page that begins behind a row; Cut gives the one of the next page.
func (p Page) TokenAfter(after Key) string {
	token := pageToken{ID: after.ID}
	switch p.column {
	case byName:
		token.Name = after.Name
	case byUpdatedAt:
		token.Micros = after.UpdatedAt.UnixMicro()
	default:
		token.Micros = after.CreatedAt.UnixMicro()
	}
	token.Checksum = p.checksum(token)
	text, _ := json.Marshal(token) // numbers and strings always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

func (p Page) parse(text string) (Key, bool) {
	if len(text) > maxTokenBytes {
		return Key{}, false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Key{}, false
	}
	var token pageToken
	if err := json.Unmarshal(decoded, &token); err != nil || token.Checksum != p.checksum(token) {
		return Key{}, false
	}
	at := time.UnixMicro(token.Micros).UTC()
	return Key{CreatedAt: at, UpdatedAt: at, Name: token.Name, ID: token.ID}, true
}

// checksum ties a place to its list. It guards against mistakes, not against forgery: what a
// forged token can reach is still bounded by the statement's tenant and workspace.
func (p Page) checksum(token pageToken) string {
	parts := append([]string{strconv.Itoa(int(p.order)), strconv.FormatInt(token.Micros, 10), token.ID}, p.filters...)
	if p.column != "" || p.query != "" { // tokens of earlier versions have none of these
		parts = append(parts, string(p.column), token.Name, p.query)
	}
	text, _ := json.Marshal(parts) // strings always marshal
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
