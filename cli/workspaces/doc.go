// Package workspaces is the commands `parlance workspaces` and `parlance tenant`: a tenant and its
// workspaces over the public API.
package workspaces
