package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/workspaces"
)

// How MCP servers are asked. Source of mcpFresh: issue 5; decisions has the time-outs of the protocol.
const (
	// mcpFresh is how long a list of tools is believed.
	mcpFresh = 5 * time.Minute
	// mcpStale is how old a list may be that stands in for a server which cannot be asked.
	mcpStale = 24 * time.Hour
	// mcpTurnWait is how long a turn waits for a server's list; it goes on without, and the next turn has it.
	mcpTurnWait = 3 * time.Second
	// mcpAskTimeout bounds asking: to initialize and to list take 10 s each at most.
	mcpAskTimeout = 22 * time.Second
	// mcpFailedWait is how long a server that could not be asked is left alone.
	mcpFailedWait = 30 * time.Second
	// mcpMaxTime bounds a call, whatever progress it reports: the longest timeout_seconds.
	mcpMaxTime = MaxTimeoutSeconds * time.Second
	// mcpParallel is how many servers of an agent are asked at once.
	mcpParallel = 8
	// mcpCached is how many lists are kept in memory.
	mcpCached = 256
)

// The values of Config.Approval.
const (
	ApprovalNever  = "never"
	ApprovalAlways = "always"
	ApprovalListed = "listed"
)

// mcpServers is what this node knows of MCP servers. Safe for concurrent use.
type mcpServers struct {
	client  *mcp.Client
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	asking  map[string]*mcpAsk    // by the endpoint's key; also what failed lately
	parsed  map[string]mcpCatalog // by tool and digest
	private map[string]mcpPrivate // by the endpoint's key: those that depend on a session's variables
}

// mcpPrivate is the newest list of a server that is asked with values of a session. It is not
// written down with what it was asked with: a digest of that could be guessed.
type mcpPrivate struct {
	digest string
	at     time.Time
}

// mcpAsk is one asking of a server for its list, which all wait for who want it.
type mcpAsk struct {
	done     chan struct{}
	digest   string
	err      error
	failedAt time.Time
}

func newMCPServers(options mcp.Options) *mcpServers {
	m := &mcpServers{asking: map[string]*mcpAsk{}, parsed: map[string]mcpCatalog{}, private: map[string]mcpPrivate{}}
	m.client = mcp.New(options)
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

func (m *mcpServers) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end()
	m.client.Close()
	m.running.Wait()
}

// Close ends the sessions with MCP servers, which takes some seconds at most.
func (s *Service) Close() { s.mcp.close() }

// mcpEndpoint is a tool's server as a session asks it.
type mcpEndpoint struct {
	mcp.Endpoint

	// key names the endpoint on this node, and its session.
	key string
	// digest is of what it is asked with; empty when that depends on variables.
	digest        string
	authorization string
}

// mcpKeySeparator stands in no id.
const mcpKeySeparator = " "

// mcpEndpoint renders where and with what the tool's server is asked.
func (s *Service) mcpEndpoint(ctx context.Context, ref workspaces.Ref, tool Tool, authorization string, variables lookup) (mcpEndpoint, *Error) {
	config := tool.Config
	if !config.AllowDynamicVars {
		variables = nil
	}
	origin, pathTemplate, queryTemplate := splitURL(config.MCPServerURL)
	asWritten := func(name string) (string, bool) { return "{" + name + "}", true } // arguments have no place here
	path, problem := renderPath(pathTemplate, variables, asWritten)
	if problem != nil {
		return mcpEndpoint{}, problem
	}
	query, problem := renderQuery(queryTemplate, variables, asWritten)
	if problem != nil {
		return mcpEndpoint{}, problem
	}
	out := mcpEndpoint{Endpoint: mcp.Endpoint{URL: origin + path, Headers: map[string]string{}, MaxAnswerBytes: config.ResponseMaxBytes}}
	if query != "" {
		out.URL += "?" + query
	}
	headers := maps.Clone(config.Headers)
	if authorization != "" {
		if headers == nil {
			headers = map[string]string{}
		}
		headers["Authorization"] = authorization
	}
	dynamic := variables != nil && hasVariable(config.MCPServerURL)
	for name, template := range headers {
		if out.Headers[name], problem = renderHeader(name, template, variables); problem != nil {
			return mcpEndpoint{}, problem
		}
		dynamic = dynamic || variables != nil && hasVariable(template)
	}
	out.authorization = out.Headers["Authorization"]
	sum := sha256.New()
	for _, part := range append([]string{out.URL, string(tool.ID)}, sortedPairs(out.Headers)...) {
		_, _ = sum.Write([]byte(part + "\x00")) // a hash takes everything
	}
	asked := hex.EncodeToString(sum.Sum(nil))
	out.key = strings.Join([]string{string(ref.TenantID), string(ref.ID), string(tool.ID), asked, map[bool]string{true: "private"}[dynamic]}, mcpKeySeparator)
	if !dynamic {
		// Over the sealed authorization, not the plain one: this digest is written down.
		shown := sha256.Sum256([]byte(strings.Join(append(sortedPairs(config.Headers), config.MCPServerURL, hex.EncodeToString(tool.AuthHeader)), "\x00")))
		out.digest = hex.EncodeToString(shown[:])
	}
	return out, nil
}

func hasVariable(template string) bool {
	return slices.ContainsFunc(split(template), func(p piece) bool { return p.variable != "" })
}

func sortedPairs(m map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+": "+m[name])
	}
	return out
}

// mcpChanged notes that a server has another list now, for the sessions that begin from here on.
func (s *Service) mcpChanged(key string) {
	parts := strings.Split(key, mcpKeySeparator)
	ref, id := workspaces.Ref{TenantID: workspaces.TenantID(parts[0]), ID: workspaces.ID(parts[1])}, ID(parts[2])
	s.mcp.mu.Lock()
	delete(s.mcp.private, key)
	s.mcp.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.mcp.life, traceTimeout)
	defer cancel()
	row := mcpDiscovery{ToolID: id, TenantID: ref.TenantID, WorkspaceID: ref.ID, ChangedAt: s.moment()}
	if err := updateDiscovery(ctx, s.db, row, "changed_at"); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "change of an MCP server's tools not noted", "tool_id", string(id), "error", err)
	}
}

// mcpDigest is a list's content.
func mcpDigest(list []mcp.Tool) (string, json.RawMessage, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), raw, nil
}
