// Package agents is the command `parlance agents`: list, show, create, change and delete agents
// over the public API.
package agents
