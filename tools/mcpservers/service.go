package mcpservers

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxCallTime bounds a call, whatever progress it reports. It is the longest timeout_seconds.
	maxCallTime = 120 * time.Second
	// writeTimeout bounds a statement that is also worth sending when the caller has gone.
	writeTimeout = 5 * time.Second
	// maxCached is how many lists are kept in memory.
	maxCached = 256
)

// Deps is what a Service works with. All fields are needed.
type Deps struct {
	DB *postgres.DB
	// HTTP connects to servers. Its transport must guard where to.
	HTTP *http.Client
	// Schemas checks the input schemas of tools.
	Schemas *schema.Cache
	Log     *slog.Logger
	Now     func() time.Time
}

// Service knows and calls MCP servers. Safe for concurrent use.
type Service struct {
	db      *postgres.DB
	client  *mcp.Client
	schemas *schema.Cache
	log     *slog.Logger
	now     func() time.Time

	ctx     context.Context //nolint:containedctx // ends when the service is closed
	cancel  context.CancelFunc
	running sync.WaitGroup

	catalogs *cache.Cache[string, []Tool]     // by tool and digest
	private  *cache.Cache[string, privateRow] // by Endpoint.key

	mu      sync.Mutex
	closed  bool
	fetches map[string]*fetch // by Endpoint.key; running ones, and those that failed lately
}

// Waits of a query.
const (
	// TurnWait is how long a turn waits for the list of a server. It goes on without it then, and the
	// next turn has it.
	TurnWait = 3 * time.Second
	// FetchTimeout bounds the fetch of a list: to initialize and to list take 10 s each at most.
	FetchTimeout = 22 * time.Second
)

// fetch is one fetch of the list of a server. Everybody who wants the list waits for the same one.
type fetch struct {
	done    chan struct{} // closed when the rest is set
	digest  string
	err     error
	endedAt time.Time
}

// ended says whether the fetch is over.
func (f *fetch) ended() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// privateRow is the newest list of a server whose endpoint depends on the variables of a session.
// It is not stored in Postgres: the digest of such an endpoint could be guessed.
type privateRow struct {
	digest   string
	listedAt time.Time
}

// New makes the service. Close it.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, schemas: d.Schemas, log: d.Log, now: d.Now,
		catalogs: cache.New[string, []Tool](maxCached), private: cache.New[string, privateRow](maxCached),
		fetches: map[string]*fetch{},
	}
	s.client = mcp.New(mcp.Options{HTTP: d.HTTP, Changed: s.markChanged})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends the sessions with servers, which takes some seconds at most.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.client.Close()
	s.running.Wait()
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// markChanged notes that a server announced another list. Sessions that begin from now on get it.
func (s *Service) markChanged(key string) {
	parts := strings.Split(key, keySeparator)
	row := discovery{
		TenantID: workspaces.TenantID(parts[0]), WorkspaceID: workspaces.ID(parts[1]), ToolID: parts[2], ChangedAt: s.timestamp(),
	}
	s.private.Delete(key)
	ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
	defer cancel()
	if err := updateChanged(ctx, s.db, row); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "mcp: changed list of tools not recorded",
			slog.String("tool_id", row.ToolID), slog.Any("error", err))
	}
}
