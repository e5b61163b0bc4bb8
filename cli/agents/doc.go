// Package agents is the command `parlance agents`: list, show, create, change, draft, roll back and
// delete agents over the public API.
package agents
