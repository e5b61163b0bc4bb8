package memory

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// User is a user of the agents of a workspace, with counts.
type User struct {
	UserID       string    `bun:"user_id"`
	FirstSeenAt  time.Time `bun:"first_seen_at"`
	LastSeenAt   time.Time `bun:"last_seen_at"`
	Sessions     int       `bun:"sessions"`
	Turns        int       `bun:"turns"`
	InputTokens  int       `bun:"input_tokens"`
	OutputTokens int       `bun:"output_tokens"`
	Memories     int       `bun:"memories"`
}

// usersSQL reads the user ids of a page by stepping through the indexes of sessions and
// memory_users, so that only the sessions of these users are counted.
const usersSQL = `
WITH RECURSIVE walk AS (
    SELECT least(
               (SELECT min(s.user_id COLLATE "C") FROM sessions AS s WHERE s.workspace_id = ? AND s.user_id COLLATE "C" %s ?),
               (SELECT min(u.user_id) FROM memory_users AS u WHERE u.workspace_id = ? AND u.memories > 0 AND u.user_id %s ?)
           ) AS user_id,
           1 AS place
    UNION ALL
    SELECT least(
               (SELECT min(s.user_id COLLATE "C") FROM sessions AS s WHERE s.workspace_id = ? AND s.user_id COLLATE "C" > walk.user_id),
               (SELECT min(u.user_id) FROM memory_users AS u WHERE u.workspace_id = ? AND u.memories > 0 AND u.user_id > walk.user_id)
           ),
           walk.place + 1
    FROM walk
    WHERE walk.user_id IS NOT NULL
      AND starts_with(walk.user_id, ?)
      AND walk.place < ?
)
`

const viewSQL = `
SELECT walk.user_id,
       least(mine.first_seen_at, known.created_at) AS first_seen_at,
       greatest(mine.last_seen_at, known.updated_at) AS last_seen_at,
       mine.sessions,
       mine.turns,
       mine.input_tokens,
       mine.output_tokens,
       coalesce(known.memories, 0) AS memories
FROM walk
LEFT JOIN LATERAL (
    SELECT u.memories,
           u.created_at,
           u.updated_at
    FROM memory_users AS u
    WHERE u.tenant_id = ?
      AND u.workspace_id = ?
      AND u.user_id = walk.user_id
      AND u.memories > 0
) AS known ON true
CROSS JOIN LATERAL (
    SELECT min(s.created_at) AS first_seen_at,
           max(s.last_activity_at) AS last_seen_at,
           count(*) AS sessions,
           coalesce(sum(s.turn_count), 0) AS turns,
           coalesce(sum(s.input_tokens), 0) AS input_tokens,
           coalesce(sum(s.output_tokens), 0) AS output_tokens
    FROM sessions AS s
    WHERE s.tenant_id = ?
      AND s.workspace_id = ?
      AND s.user_id COLLATE "C" = walk.user_id
) AS mine
WHERE walk.user_id IS NOT NULL
  AND (mine.sessions > 0 OR known.memories > 0)
  AND starts_with(walk.user_id, ?)
ORDER BY walk.user_id`

// Users lists the users whose ids begin with the prefix, in byte order of the ids. Errors: Invalid
// invalid-request (page_size, page_token).
func (s *Service) Users(ctx context.Context, ref workspaces.Ref, prefix string, params postgres.PageParams) ([]User, string, error) {
	params.Order = postgres.OldestFirst
	params.Filters = []string{string(ref.TenantID), string(ref.ID), prefix}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	if !storable(prefix) {
		return nil, "", nil
	}
	walk, after := fmt.Sprintf(usersSQL, ">=", ">="), prefix
	if page.After != nil {
		walk, after = fmt.Sprintf(usersSQL, ">", ">"), page.After.ID
	}
	var users []User
	err = s.db.NewRaw(walk+viewSQL,
		ref.ID, after, ref.ID, after, ref.ID, ref.ID, prefix, page.Limit(),
		ref.TenantID, ref.ID, ref.TenantID, ref.ID, prefix).Scan(ctx, &users)
	if err != nil {
		return nil, "", fmt.Errorf("list users: %w", err)
	}
	users, next := postgres.Cut(page, users, func(u User) postgres.Key {
		return postgres.Key{CreatedAt: time.UnixMicro(0).UTC(), ID: u.UserID}
	})
	return users, next, nil
}

// User returns one user. Errors: NotFound when there is neither a session nor a memory.
func (s *Service) User(ctx context.Context, ref workspaces.Ref, userID string) (User, error) {
	if !validUser(userID) {
		return User{}, fault.NoSuch("user", userID)
	}
	var user User
	err := s.db.NewRaw("WITH walk AS (SELECT ?::text COLLATE \"C\" AS user_id)"+viewSQL,
		userID, ref.TenantID, ref.ID, ref.TenantID, ref.ID, "").Scan(ctx, &user)
	if postgres.NoRows(err) {
		return User{}, fault.NoSuch("user", userID)
	}
	if err != nil {
		return User{}, fmt.Errorf("read user: %w", err)
	}
	return user, nil
}
