package mcp

import "context"

// ServerInfo is what a server says it is. Both may be empty.
type ServerInfo struct{ Name, Version string }

// Inspect says what a server is, and lists its tools as List does. truncated says that the server
// has more of them. It opens a session for that and
// ends it. Errors: *Error.
func (c *Client) Inspect(ctx context.Context, e Endpoint) (info ServerInfo, list []Tool, truncated bool, err error) {
	s, failed := c.acquire(ctx, "", e) // no call has that key, so the session is new
	if failed != nil {
		return ServerInfo{}, nil, false, failed
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.retire(s)
	}()
	list, truncated, failed = s.list(ctx)
	if failed != nil {
		return ServerInfo{}, nil, false, failed
	}
	if told := s.InitializeResult(); told != nil && told.ServerInfo != nil {
		info = ServerInfo{Name: told.ServerInfo.Name, Version: told.ServerInfo.Version}
	}
	return info, list, truncated, nil
}
