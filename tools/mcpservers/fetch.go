package mcpservers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/provider/mcp"
)

const (
	// freshTime is how long a list is used without asking again. Source: issue 5.
	freshTime = 5 * time.Minute
	// staleTime is how old a list may be that replaces one of a server that cannot be asked.
	staleTime = 24 * time.Hour
	// failedTime is how long a server that could not be asked is not asked again.
	failedTime = 30 * time.Second
)

var errSlow = errors.New("it has not answered yet; the next turn may have its tools")

// fetch fetches the list of a server, and waits for it as long as the query says.
func (s *Service) fetch(ctx context.Context, q Query, server Server, e Endpoint) *fetch {
	f := s.startFetch(ctx, q, server, e)
	timer := time.NewTimer(q.Wait)
	defer timer.Stop()
	select {
	case <-f.done:
		return f
	case <-timer.C:
		return &fetch{err: errSlow}
	case <-ctx.Done():
		return &fetch{err: ctx.Err()}
	}
}

// startFetch starts a fetch, or joins one that is running or failed lately.
func (s *Service) startFetch(ctx context.Context, q Query, server Server, e Endpoint) *fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		closed := &fetch{done: make(chan struct{}), err: errors.New("the service is being stopped")}
		close(closed.done)
		return closed
	}
	if f := s.fetches[e.key]; f != nil {
		outdated := f.ended() && (q.Refresh || s.now().Sub(f.endedAt) > failedTime)
		if !outdated {
			return f
		}
	}
	if len(s.fetches) > maxCached {
		for key, other := range s.fetches {
			if other.ended() {
				delete(s.fetches, key)
			}
		}
	}
	f := &fetch{done: make(chan struct{})}
	s.fetches[e.key] = f
	s.running.Go(func() {
		// The caller that started the fetch may go. Others, and the next turn, still want the list.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), FetchTimeout)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		f.digest, f.err = s.fetchOnce(ctx, q, server, e)
		s.mu.Lock()
		defer s.mu.Unlock()
		f.endedAt = s.now()
		if f.err == nil {
			delete(s.fetches, e.key) // the list is stored
		}
		close(f.done)
	})
	return f
}

// fetchOnce asks the server and stores its list.
func (s *Service) fetchOnce(ctx context.Context, q Query, server Server, e Endpoint) (digest string, err error) {
	row := discovery{
		ToolID: server.ToolID, TenantID: server.Ref.TenantID, WorkspaceID: server.Ref.ID,
		Endpoint: e.digest, ListedAt: s.timestamp(), ChangedAt: time.Unix(0, 0),
	}
	if !q.Refresh { // another caller may have fetched the list since this one looked
		if digest, fresh, err := s.newest(ctx, server, e); err == nil && fresh {
			return digest, nil
		}
	}
	list, err := s.client.List(ctx, e.key, e.Endpoint)
	if err != nil {
		return "", listError(err, e)
	}
	return s.store(ctx, row, redactList(list, e), e)
}

// redactList removes secrets, which a server may echo, and characters that Postgres refuses. A tool
// with a secret in its name is left out: it could not be called by another name.
func redactList(list []mcp.Tool, e Endpoint) []mcp.Tool {
	r := redact.New(e.secrets)
	list = slices.DeleteFunc(list, func(tool mcp.Tool) bool { return r.Text(tool.Name) != tool.Name })
	for i := range list {
		tool := &list[i]
		tool.Description, tool.Title = r.Text(tool.Description), r.Text(tool.Title)
		tool.Name = strings.ReplaceAll(tool.Name, "\x00", "\uFFFD")
		clean, _ := r.Value(jsonvalue.Decode(tool.InputSchema))
		tool.InputSchema = json.RawMessage(jsonvalue.Compact(clean))
	}
	return list
}

// store stores a list and returns its digest.
func (s *Service) store(ctx context.Context, row discovery, list []mcp.Tool, e Endpoint) (string, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("encode list of tools: %w", err)
	}
	sum := sha256.Sum256(raw)
	row.Digest = hex.EncodeToString(sum[:])
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		err := insertCatalog(ctx, tx, catalogRow{
			ToolID: row.ToolID, Digest: row.Digest, TenantID: row.TenantID, WorkspaceID: row.WorkspaceID,
			RemoteTools: raw, CreatedAt: row.ListedAt,
		})
		if err != nil || e.digest == "" {
			return err
		}
		return upsertDiscovery(ctx, tx, row)
	})
	if err != nil {
		return "", fmt.Errorf("store list of tools: %w", err)
	}
	if e.digest == "" {
		s.private.Set(e.key, privateRow{digest: row.Digest, listedAt: row.ListedAt})
	}
	return row.Digest, nil
}

// newest is the digest of the newest list of a server, and whether the list can be used without
// asking the server.
func (s *Service) newest(ctx context.Context, server Server, e Endpoint) (digest string, fresh bool, err error) {
	now := s.now()
	if e.digest == "" {
		last, _ := s.private.Get(e.key)
		return last.digest, last.digest != "" && now.Sub(last.listedAt) < freshTime, nil
	}
	row, err := selectDiscovery(ctx, s.db, server)
	if err != nil || row.Endpoint != e.digest || row.Digest == "" || now.Sub(row.ListedAt) > staleTime {
		return "", false, err
	}
	return row.Digest, now.Sub(row.ListedAt) < freshTime && row.ListedAt.After(row.ChangedAt), nil
}
