package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// ID names an entry (aud_…).
type ID string

// ActorKind is what kind of caller made a change.
type ActorKind string

// The kinds of actors.
const (
	// ActorKey is an API key; the id is key_….
	ActorKey ActorKind = "api_key"
	// ActorSession is the holder of a session's token; the id is ses_….
	ActorSession ActorKind = "session_token"
	// ActorPerson is somebody who has signed in at the console; the id is per_….
	ActorPerson ActorKind = "person"
	// ActorCommand is a command that works on the database; the name is that of the user of the
	// operating system.
	ActorCommand ActorKind = "cli"
)

// Outcome is what became of a request.
type Outcome string

// The outcomes. A refusal has the reason of its error instead, such as auth-scope.
const (
	// Done: the change was made, or the data was read.
	Done Outcome = "done"
	// Unknown: the request failed in a way, or its process died, so that the change may have been
	// made.
	Unknown Outcome = "unknown"
)

// HashBytes is the length of a hash.
const HashBytes = sha256.Size

// Actor is who made a change.
type Actor struct {
	Kind ActorKind
	ID   string
	// Name is the name of the key, of the person at that time, or of the user of the operating system.
	Name string
}

// Entry is an entry of the log. Number, At, PreviousHash and Hash are set when it is written.
type Entry struct {
	bun.BaseModel `bun:"table:audit_entries,alias:e" json:"-"`

	TenantID workspaces.TenantID `bun:"tenant_id,pk"`
	// Number counts the entries of the tenant from 1.
	Number int64 `bun:"number,pk"`
	ID     ID    `bun:"id"`
	// At is when the entry was written. It is later than that of the entry before.
	At time.Time `bun:"at"`
	// BegunAt is when the request began.
	BegunAt time.Time `bun:"begun_at"`
	// WorkspaceID is empty for what belongs to the whole tenant.
	WorkspaceID workspaces.ID `bun:"workspace_id"`
	ActorKind   ActorKind     `bun:"actor_kind"`
	ActorID     string        `bun:"actor_id"`
	ActorName   string        `bun:"actor_name"`
	// Action is the resource and the verb: agent.update.
	Action       string `bun:"action"`
	ResourceType string `bun:"resource_type"`
	ResourceID   string `bun:"resource_id"`
	// ParentID is the resource that the path names before it, such as the agent of an attachment.
	ParentID string `bun:"parent_id"`
	// UserHash is the hash of the end user that the request is about: see workspaces.UserHashes.
	UserHash string `bun:"user_hash"`
	// RemoteAddress is empty for commands and behind a proxy that does not name its client.
	RemoteAddress string  `bun:"remote_address"`
	UserAgent     string  `bun:"user_agent"`
	RequestID     string  `bun:"request_id"`
	Outcome       Outcome `bun:"outcome"`
	// Before and After are JSON objects of the fields that changed, without secrets and contents.
	// Numbers in them are integers. nil: there is none.
	Before json.RawMessage `bun:"before,type:jsonb,nullzero"`
	After  json.RawMessage `bun:"after,type:jsonb,nullzero"`
	// PreviousHash is the hash of the entry before; 32 zero bytes in the first entry.
	PreviousHash []byte `bun:"previous_hash"`
	Hash         []byte `bun:"hash"`
}

// Settings makes the JSON object of Before or After. nil gives nil. Values are nil, bool, int64,
// string, []any and map[string]any.
func Settings(fields map[string]any) (json.RawMessage, error) {
	if fields == nil {
		return nil, nil
	}
	return canonical(fields)
}

// timeFormat has microseconds, as Postgres keeps them, with all six digits.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// members are the members of the JSON form of the entry, without its hash.
func (e Entry) members() (map[string]any, error) {
	before, err := decode(e.Before)
	if err != nil {
		return nil, fmt.Errorf("read before: %w", err)
	}
	after, err := decode(e.After)
	if err != nil {
		return nil, fmt.Errorf("read after: %w", err)
	}
	return map[string]any{
		"tenant_id": string(e.TenantID), "number": e.Number, "id": string(e.ID),
		"at": e.At.UTC().Format(timeFormat), "begun_at": e.BegunAt.UTC().Format(timeFormat),
		"workspace_id": string(e.WorkspaceID), "actor_kind": string(e.ActorKind), "actor_id": e.ActorID, "actor_name": e.ActorName,
		"action": e.Action, "resource_type": e.ResourceType, "resource_id": e.ResourceID, "parent_id": e.ParentID,
		"user_hash": e.UserHash, "remote_address": e.RemoteAddress, "user_agent": e.UserAgent, "request_id": e.RequestID,
		"outcome": string(e.Outcome), "before": before, "after": after, "previous_hash": hex.EncodeToString(e.PreviousHash),
	}, nil
}

// Canonical returns the bytes whose SHA-256 is the hash of the entry: its JSON object without the
// hash, in the form that docs/audit.md describes.
func (e Entry) Canonical() ([]byte, error) {
	members, err := e.members()
	if err != nil {
		return nil, err
	}
	return canonical(members)
}

// Line returns the entry as a line of an export: the canonical JSON object with the hash, and a
// line feed.
func (e Entry) Line() ([]byte, error) {
	members, err := e.members()
	if err != nil {
		return nil, err
	}
	members["hash"] = hex.EncodeToString(e.Hash)
	line, err := canonical(members)
	return append(line, '\n'), err
}

// sum computes the hash of the entry.
func (e Entry) sum() ([]byte, error) {
	text, err := e.Canonical()
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	return hash[:], nil
}

// line is an entry in an export.
type line struct {
	TenantID      workspaces.TenantID `json:"tenant_id"`
	Number        int64               `json:"number"`
	ID            ID                  `json:"id"`
	At            string              `json:"at"`
	BegunAt       string              `json:"begun_at"`
	WorkspaceID   workspaces.ID       `json:"workspace_id"`
	ActorKind     ActorKind           `json:"actor_kind"`
	ActorID       string              `json:"actor_id"`
	ActorName     string              `json:"actor_name"`
	Action        string              `json:"action"`
	ResourceType  string              `json:"resource_type"`
	ResourceID    string              `json:"resource_id"`
	ParentID      string              `json:"parent_id"`
	UserHash      string              `json:"user_hash"`
	RemoteAddress string              `json:"remote_address"`
	UserAgent     string              `json:"user_agent"`
	RequestID     string              `json:"request_id"`
	Outcome       Outcome             `json:"outcome"`
	Before        json.RawMessage     `json:"before"`
	After         json.RawMessage     `json:"after"`
	PreviousHash  string              `json:"previous_hash"`
	Hash          string              `json:"hash"`
}

// ParseLine reads a line of an export. Errors: it is not one, byte for byte as Line writes it, so
// that no other program reads something else in it.
func ParseLine(text []byte) (Entry, error) {
	e, err := parseLine(text)
	if err != nil {
		return Entry{}, err
	}
	written, err := e.Line()
	if err != nil {
		return Entry{}, err
	}
	if !bytes.Equal(bytes.TrimSpace(written), bytes.TrimSpace(text)) {
		return Entry{}, errors.New("the line is not written as an export writes it: a member is there twice, or something follows")
	}
	return e, nil
}

func parseLine(text []byte) (Entry, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var l line
	if err := decoder.Decode(&l); err != nil {
		return Entry{}, fmt.Errorf("read an entry: %w", err)
	}
	e := Entry{
		TenantID: l.TenantID, Number: l.Number, ID: l.ID, WorkspaceID: l.WorkspaceID,
		ActorKind: l.ActorKind, ActorID: l.ActorID, ActorName: l.ActorName, Action: l.Action,
		ResourceType: l.ResourceType, ResourceID: l.ResourceID, ParentID: l.ParentID, UserHash: l.UserHash,
		RemoteAddress: l.RemoteAddress, UserAgent: l.UserAgent, RequestID: l.RequestID, Outcome: l.Outcome,
		Before: l.Before, After: l.After,
	}
	var err error
	if e.At, err = time.Parse(timeFormat, l.At); err != nil {
		return Entry{}, fmt.Errorf("read at: %w", err)
	}
	if e.BegunAt, err = time.Parse(timeFormat, l.BegunAt); err != nil {
		return Entry{}, fmt.Errorf("read begun_at: %w", err)
	}
	if e.PreviousHash, err = hex.DecodeString(l.PreviousHash); err != nil {
		return Entry{}, fmt.Errorf("read previous_hash: %w", err)
	}
	if e.Hash, err = hex.DecodeString(l.Hash); err != nil {
		return Entry{}, fmt.Errorf("read hash: %w", err)
	}
	return e, nil
}
