package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/workspaces"
)

// discovered is what a server has, or why that is not known.
type discovered struct {
	catalog mcpCatalog
	reason  DisabledReason
	detail  string
}

// mcpContext is for whom servers are asked.
type mcpContext struct {
	ref       workspaces.Ref
	sessionID string // empty: nothing is frozen
	variables Variables
	// wait is how long to wait for a server; force asks also where a list is known.
	wait  time.Duration
	force bool
}

// discoverAll asks the servers of an agent's tools, side by side.
func (s *Service) discoverAll(ctx context.Context, m mcpContext, list []Tool) (map[ID]discovered, error) {
	if len(list) == 0 {
		return nil, nil
	}
	frozen := map[ID]string{}
	if m.sessionID != "" {
		var err error
		if frozen, err = frozenCatalogs(ctx, s.db, m.ref, m.sessionID); err != nil {
			return nil, err
		}
	}
	found := make([]discovered, len(list))
	var all sync.WaitGroup
	slots := make(chan struct{}, mcpParallel) // a semaphore
	for i, tool := range list {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = s.discover(ctx, m, tool, frozen[tool.ID])
		})
	}
	all.Wait()
	out := map[ID]discovered{}
	for i, tool := range list {
		out[tool.ID] = found[i]
	}
	return out, ctx.Err()
}

// discover is one tool's list: the session's own, a fresh one, or else an older one.
func (s *Service) discover(ctx context.Context, m mcpContext, tool Tool, frozen string) discovered {
	if frozen != "" {
		if catalog, err := s.catalog(ctx, m.ref, tool.ID, frozen); err == nil && catalog != nil {
			return discovered{catalog: catalog}
		}
	}
	authorization, err := s.openAuthHeader(ctx, tool)
	if err != nil {
		return s.unknown(ctx, tool, err)
	}
	e, problem := s.mcpEndpoint(ctx, m.ref, tool, authorization, m.variables.operator)
	if problem != nil {
		return discovered{reason: ReasonUnreachable, detail: problem.Message}
	}
	digest, fresh, err := s.known(ctx, m.ref, tool, e)
	if err != nil {
		return s.unknown(ctx, tool, err)
	}
	if !fresh || m.force {
		asked := s.ask(ctx, m, tool, e)
		if asked.err == nil {
			digest = asked.digest
		} else if digest == "" || m.force {
			return discovered{reason: ReasonUnreachable, detail: asked.err.Error()}
		}
	}
	if m.sessionID != "" {
		digest, err = freezeCatalog(ctx, s.db, mcpFrozen{
			SessionID: m.sessionID, ToolID: tool.ID, TenantID: m.ref.TenantID, WorkspaceID: m.ref.ID, Digest: digest, CreatedAt: s.moment(),
		})
		if err != nil {
			return s.unknown(ctx, tool, err)
		}
	}
	catalog, err := s.catalog(ctx, m.ref, tool.ID, digest)
	if err == nil && catalog == nil {
		err = errors.New("its list of tools is gone")
	}
	if err != nil {
		return s.unknown(ctx, tool, err)
	}
	return discovered{catalog: catalog}
}

// unknown is our own failure: the tools are left out, and the session goes on.
func (s *Service) unknown(ctx context.Context, tool Tool, err error) discovered {
	if ctx.Err() == nil {
		s.log.ErrorContext(ctx, "tools of an MCP server left out", slog.String("tool_id", string(tool.ID)), slog.Any("error", err))
	}
	return discovered{reason: ReasonUnreachable, detail: "its list of tools could not be read"}
}

// known is the newest list of a tool's server, and whether it can be believed without asking again.
func (s *Service) known(ctx context.Context, ref workspaces.Ref, tool Tool, e mcpEndpoint) (digest string, fresh bool, err error) {
	now := s.now()
	if e.digest == "" {
		s.mcp.mu.Lock()
		defer s.mcp.mu.Unlock()
		last := s.mcp.private[e.key]
		return last.digest, last.digest != "" && now.Sub(last.at) < mcpFresh, nil
	}
	row, err := selectDiscovery(ctx, s.db, ref, tool.ID)
	if err != nil || row.Endpoint != e.digest || row.Digest == "" || now.Sub(row.ListedAt) > mcpStale {
		return "", false, err
	}
	return row.Digest, now.Sub(row.ListedAt) < mcpFresh && row.ListedAt.After(row.ChangedAt), nil
}

var errSlow = errors.New("it has not answered yet; the next turn may have its tools")

// ask has the server asked, once for all who want to know, and waits for it for some time.
func (s *Service) ask(ctx context.Context, m mcpContext, tool Tool, e mcpEndpoint) *mcpAsk {
	at := s.startAsking(ctx, m, tool, e)
	timer := time.NewTimer(m.wait)
	defer timer.Stop()
	select {
	case <-at.done:
		return at
	case <-timer.C:
		return &mcpAsk{err: errSlow}
	case <-ctx.Done():
		return &mcpAsk{err: ctx.Err()}
	}
}

func (s *Service) startAsking(ctx context.Context, m mcpContext, tool Tool, e mcpEndpoint) *mcpAsk {
	s.mcp.mu.Lock()
	defer s.mcp.mu.Unlock()
	if s.mcp.closed {
		closed := &mcpAsk{done: make(chan struct{}), err: errors.New("the service is being stopped")}
		close(closed.done)
		return closed
	}
	if at := s.mcp.asking[e.key]; at != nil {
		over := false
		select {
		case <-at.done:
			over = m.force || s.now().Sub(at.failedAt) > mcpFailedWait
		default:
		}
		if !over {
			return at
		}
	}
	at := &mcpAsk{done: make(chan struct{})}
	if len(s.mcp.asking) > mcpCached {
		for key, other := range s.mcp.asking {
			select {
			case <-other.done:
				delete(s.mcp.asking, key)
			default:
			}
		}
	}
	s.mcp.asking[e.key] = at
	s.mcp.running.Go(func() {
		// Whoever began may go; the others, and the next turn, still want the answer.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), mcpAskTimeout)
		defer cancel()
		defer context.AfterFunc(s.mcp.life, cancel)()
		at.digest, at.err = s.list(asking, m, tool, e)
		s.mcp.mu.Lock()
		defer s.mcp.mu.Unlock()
		at.failedAt = s.now()
		if at.err == nil {
			delete(s.mcp.asking, e.key) // what it found is in Postgres
		}
		close(at.done)
	})
	return at
}

// list asks the server and keeps what it has. Another node that does so already is waited for.
func (s *Service) list(ctx context.Context, m mcpContext, tool Tool, e mcpEndpoint) (string, error) {
	ref, began := m.ref, s.moment()
	if e.digest != "" {
		mine, err := claimDiscovery(ctx, s.db, ref, tool.ID, began)
		if err != nil {
			return "", fmt.Errorf("claim discovery: %w", err)
		}
		if !mine {
			if digest := s.awaitOther(ctx, ref, tool, e, began); digest != "" {
				return digest, nil
			}
		}
	}
	row := mcpDiscovery{ToolID: tool.ID, TenantID: ref.TenantID, WorkspaceID: ref.ID, Endpoint: e.digest, ListedAt: began, AskingUntil: time.Unix(0, 0)}
	giveBack := func() {
		if e.digest != "" {
			giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), traceTimeout)
			defer cancel()
			_ = updateDiscovery(giving, s.db, row, "asking_until") // it ends by itself too
		}
	}
	if !m.force { // somebody may have asked since this one looked
		if digest, fresh, err := s.known(ctx, ref, tool, e); err == nil && fresh {
			giveBack()
			return digest, nil
		}
	}
	list, err := s.mcp.client.List(ctx, e.key, e.Endpoint)
	if err != nil {
		giveBack()
		return "", mcpWords(err, e)
	}
	redact := newRedactor(authSecrets(e.authorization))
	for i := range list { // a server may echo what it was sent
		list[i].Description, list[i].Title = redact.text(list[i].Description), redact.text(list[i].Title)
		list[i].Name, list[i].InputSchema = strings.ReplaceAll(list[i].Name, "\x00", "\uFFFD"), keepableSchema(redact, list[i].InputSchema)
	}
	digest, raw, err := mcpDigest(list)
	if err != nil {
		return "", fmt.Errorf("encode list of tools: %w", err)
	}
	row.Digest = digest
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		err := insertCatalog(ctx, tx, mcpCatalogRow{ToolID: tool.ID, Digest: digest, TenantID: ref.TenantID, WorkspaceID: ref.ID, RemoteTools: raw, CreatedAt: began})
		if err != nil || e.digest == "" {
			return err
		}
		return updateDiscovery(ctx, tx, row, "endpoint", "digest", "listed_at", "asking_until")
	})
	if err != nil {
		return "", fmt.Errorf("keep list of tools: %w", err)
	}
	if e.digest == "" {
		s.mcp.mu.Lock()
		defer s.mcp.mu.Unlock()
		if len(s.mcp.private) >= mcpCached {
			clear(s.mcp.private)
		}
		s.mcp.private[e.key] = mcpPrivate{digest: digest, at: began}
	}
	return digest, nil
}

// keepableSchema is a schema without secrets and without what Postgres cannot keep.
func keepableSchema(redact redactor, raw json.RawMessage) json.RawMessage {
	clean, _ := redact.value(decodeJSON(raw))
	return json.RawMessage(compactJSON(clean))
}

// mcpWords is a failure to ask as an operator reads it.
func mcpWords(err error, e mcpEndpoint) error {
	failed, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return errors.New("its list of tools could not be read")
	}
	words := newRedactor(authSecrets(e.authorization)).text(failed.Error())
	if failed.Status == 401 || failed.Status == 403 {
		words += "; check auth_header"
	}
	return errors.New(words)
}

// awaitOther waits for what another node finds; empty when it finds nothing.
func (s *Service) awaitOther(ctx context.Context, ref workspaces.Ref, tool Tool, e mcpEndpoint, since time.Time) string {
	for pause(ctx, 200*time.Millisecond) {
		row, err := selectDiscovery(ctx, s.db, ref, tool.ID)
		switch {
		case err != nil || row.Endpoint != "" && row.Endpoint != e.digest:
			return ""
		case row.Digest != "" && row.ListedAt.After(since.Add(-mcpAskTimeout)) && row.Endpoint == e.digest && !row.AskingUntil.After(s.now()):
			return row.Digest
		case !row.AskingUntil.After(s.now()):
			return ""
		}
	}
	return ""
}

// catalog is a list by its digest, made ready; nil when there is none.
func (s *Service) catalog(ctx context.Context, ref workspaces.Ref, id ID, digest string) (mcpCatalog, error) {
	key := string(id) + " " + digest
	s.mcp.mu.Lock()
	catalog, ok := s.mcp.parsed[key]
	s.mcp.mu.Unlock()
	if ok {
		return catalog, nil
	}
	raw, err := selectCatalog(ctx, s.db, ref, id, digest)
	if err != nil || raw == nil {
		return nil, err
	}
	var list []mcp.Tool
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode list of tools: %w", err)
	}
	catalog = s.fit(list)
	s.mcp.mu.Lock()
	defer s.mcp.mu.Unlock()
	if len(s.mcp.parsed) >= mcpCached {
		clear(s.mcp.parsed) // rare, and each is one read and one reading
	}
	s.mcp.parsed[key] = catalog
	return catalog, nil
}
