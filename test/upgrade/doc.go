// Package upgrade tests that each released version's data is still there and still readable.
//
// sqlmigrations/testdata holds for every release a dump of its schema with data, the files of its
// bucket, and what its API answered to a list of GET requests (see Recording). The test loads each
// dump, migrates it, compares the schema with that of a new database, starts a server on it and
// asks again: every field that was answered then must be answered now. What is sealed must open: a
// tool is run and its endpoint must get the secret that was stored.
//
// A release is recorded with
//
//	go test ./test/upgrade -record 0.2.0
//
// which fills a new installation through the API and insists that no table is left empty. The keys
// in the recordings open nothing but the recordings.
package upgrade

import "encoding/json"

// Recording is what the API of a version answered.
type Recording struct {
	Version string `json:"version"`
	// Key is an API key of the tenant, with every scope.
	Key         string `json:"key"`
	WorkspaceID string `json:"workspace_id"`
	AgentID     string `json:"agent_id"`
	// ToolID is a tool that sends ToolSecret to its endpoint.
	ToolID     string `json:"tool_id"`
	ToolSecret string `json:"tool_secret"`
	// Answers are bodies by path.
	Answers map[string]json.RawMessage `json:"answers"`
}
