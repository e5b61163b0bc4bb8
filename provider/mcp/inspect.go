package mcp

import "context"

// ServerInfo is what a server says it is. Both may be empty.
type ServerInfo struct{ Name, Version string }

// Inspect says what a server is, and lists its tools as List does. It opens a session for that and
// ends it. Errors: *Error.
func (c *Client) Inspect(ctx context.Context, e Endpoint) (ServerInfo, []Tool, error) {
	s, failed := c.acquire(ctx, "", e) // no call has that key, so the session is new
	if failed != nil {
		return ServerInfo{}, nil, failed
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.retire(s)
	}()
	list, failed := s.list(ctx)
	if failed != nil {
		return ServerInfo{}, nil, failed
	}
	var info ServerInfo
	if told := s.InitializeResult(); told != nil && told.ServerInfo != nil {
		info = ServerInfo{Name: told.ServerInfo.Name, Version: told.ServerInfo.Version}
	}
	return info, list, nil
}
