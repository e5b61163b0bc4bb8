// Package sessions is the command `parlance sessions`: conversations, their transcripts and
// receipts over the public API.
package sessions
