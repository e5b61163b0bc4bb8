// Package events is the command `parlance events`: the feed of a workspace over the public API.
package events
