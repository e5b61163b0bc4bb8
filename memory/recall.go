package memory

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

const (
	// DefaultRecallTokens bounds what a session is given. Source: agents.proto,
	// AgentMemory.max_tokens.
	DefaultRecallTokens = 800
	// maxRecalled bounds the memories of each kind that are read.
	maxRecalled = 200
	// charsPerToken is a cautious estimate, and itemTokens the cost of each memory beside its text.
	charsPerToken, itemTokens = 4, 12
)

// Recalled is the memories of a user that a session is given.
type Recalled struct {
	// Items are statements, newest first, then notes, newest first.
	Items []Item
	// More says that there are others, which Search finds.
	More bool
}

// Recall returns the newest statements and notes of a user that fit into a number of tokens (0
// means DefaultRecallTokens). They are cached until the memories of the user change on any node.
func (s *Service) Recall(ctx context.Context, ref workspaces.Ref, userID string, tokens int) (Recalled, error) {
	if !validUser(userID) {
		return Recalled{}, nil
	}
	if tokens == 0 {
		tokens = DefaultRecallTokens
	}
	now := s.timestamp()
	items, known := s.recalled.get(ref, userID, now)
	if !known {
		version := s.recalled.version()
		var err error
		if items, err = selectRecalled(ctx, s.db, ref, userID, now); err != nil {
			return Recalled{}, err
		}
		s.recalled.put(ref, userID, items, version, now)
	}
	return truncate(items, tokens, now), nil
}

// truncate returns the memories that fit, in order. A long one does not exclude shorter ones after
// it.
func truncate(items []Item, tokens int, now time.Time) Recalled {
	var r Recalled
	for _, item := range items {
		if item.expired(now) {
			continue
		}
		cost := itemTokens + utf8.RuneCountInString(item.Text)/charsPerToken
		if cost > tokens {
			r.More = true
			continue
		}
		tokens -= cost
		r.Items = append(r.Items, item)
	}
	r.More = r.More || len(items) >= maxRecalled
	return r
}

// newestSQL reads the newest active memories of a kind.
const newestSQL = `
SELECT m.*
FROM memories AS m
WHERE m.tenant_id = ?
  AND m.workspace_id = ?
  AND m.user_id = ?
  AND m.status = 'active'
  AND m.kind = ?
  AND (m.expires_at IS NULL OR m.expires_at > ?)
ORDER BY m.updated_at DESC
LIMIT ?`

// selectRecalled reads the newest statements, then the newest notes.
func selectRecalled(ctx context.Context, db bun.IDB, ref workspaces.Ref, userID string, now time.Time) (items []Item, err error) {
	err = db.NewRaw("("+newestSQL+") UNION ALL ("+newestSQL+")",
		ref.TenantID, ref.ID, userID, Statement, now, maxRecalled,
		ref.TenantID, ref.ID, userID, Note, now, maxRecalled).Scan(ctx, &items)
	if err != nil {
		return nil, fmt.Errorf("read memories to recall: %w", err)
	}
	return items, nil
}

// Run keeps the cache consistent with other nodes until ctx ends. It returns the error of ctx.
// Without Run nothing is cached.
func (s *Service) Run(ctx context.Context) error {
	defer s.recalled.disable()
	return s.db.Listen(ctx, Channel, func(payload string) {
		if payload == "" { // connected: earlier notifications may have been lost
			s.recalled.enable()
			return
		}
		s.recalled.drop(payload)
	})
}
