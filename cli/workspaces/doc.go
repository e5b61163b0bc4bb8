// Package workspaces is the command `parlance workspaces`: the workspaces of a tenant over the
// public API.
package workspaces
