package memory

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

const (
	// DefaultRecallTokens is most of what a session is given. Source: agents.proto, AgentMemory.max_tokens.
	DefaultRecallTokens = 800
	// recallMost bounds the rows of each kind that are read for it.
	recallMost = 200
	// charsPerToken is a cautious estimate, and itemTokens what each memory costs beside its words.
	charsPerToken, itemTokens = 4, 12
	// recallFor bounds how long what was read is believed: NOTIFY ends it sooner, unless the connection that
	// listens was lost without a word.
	recallFor = time.Minute
	// recallUsers bounds the users that are kept.
	recallUsers = 4096
)

// Recalled is what a session is given of its user's memory.
type Recalled struct {
	// Items are statements, the newest first, then notes.
	Items []Item
	// More says that there are others, which search finds.
	More bool
}

// Recall returns the statements and the newest notes of a user that fit into so many tokens (0:
// DefaultRecallTokens). What it has read it keeps until the user's memory changes, on whatever node.
func (s *Service) Recall(ctx context.Context, ref workspaces.Ref, userID string, tokens int) (Recalled, error) {
	if !validUser(userID) {
		return Recalled{}, nil
	}
	if tokens == 0 {
		tokens = DefaultRecallTokens
	}
	now := s.moment()
	items, known := s.recalled.get(ref, userID, now)
	if !known {
		version := s.recalled.version()
		var err error
		if items, err = selectRecalled(ctx, s.db, ref, userID, now); err != nil {
			return Recalled{}, err
		}
		s.recalled.put(ref, userID, items, version, now)
	}
	return fitting(items, tokens, now), nil
}

// fitting takes what fits, in order; a long one does not keep out shorter ones behind it.
func fitting(items []Item, tokens int, now time.Time) Recalled {
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
	r.More = r.More || len(items) >= recallMost
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
		ref.TenantID, ref.ID, userID, Statement, now, recallMost, ref.TenantID, ref.ID, userID, Note, now, recallMost).Scan(ctx, &items)
	if err != nil {
		return nil, fmt.Errorf("recall a user: %w", err)
	}
	return items, nil
}

// Run keeps what was recalled in step with the other nodes until ctx ends, whose error it returns. Without
// it nothing is kept.
func (s *Service) Run(ctx context.Context) error {
	defer s.recalled.listen(false)
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() { s.readExpected(ctx) })
	return s.db.Listen(ctx, Channel, func(payload string) {
		if payload == "" { // connected: what was said meanwhile is not known
			s.recalled.listen(true)
			s.codes.Clear() // it may be another server, that counts on from an earlier number
			return
		}
		s.recalled.drop(payload)
	})
}

// recalled is what was read of users. The zero value keeps nothing until listen(true).
type recalled struct {
	mu        sync.Mutex
	listening bool
	changes   int64
	users     map[string]recalledUser
}

type recalledUser struct {
	items []Item
	until time.Time
}

// listen empties it; on says whether changes will be heard of from now on.
func (r *recalled) listen(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listening, r.users = on, map[string]recalledUser{}
	r.changes++
}

// version is to be handed to put: what was read before a change came is not kept.
func (r *recalled) version() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func (r *recalled) get(ref workspaces.Ref, userID string, now time.Time) ([]Item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	user, there := r.users[keyOf(ref, userID)]
	return user.items, there && now.Before(user.until)
}

func (r *recalled) put(ref workspaces.Ref, userID string, items []Item, version int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.listening || r.changes != version {
		return
	}
	if len(r.users) >= recallUsers {
		r.users = map[string]recalledUser{}
	}
	r.users[keyOf(ref, userID)] = recalledUser{items, now.Add(recallFor)}
}

// forget drops a user of this node's own change, before NOTIFY comes round.
func (r *recalled) forget(ref workspaces.Ref, userID string) { r.drop(keyOf(ref, userID)) }

func (r *recalled) drop(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	delete(r.users, key)
}
