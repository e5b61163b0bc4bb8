// Package rooms opens the rooms of a conversation (sessions, turns, live, analysis) together, as
// app does.
package rooms

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/content"
	"parlance.dev/parlance/turns/journal"
	"parlance.dev/parlance/turns/pgstore"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// The rooms have names under which they can be embedded together.
type (
	// Sessions is package sessions.
	Sessions = sessions.Service
	// Turns is package turns.
	Turns = turns.Service
	// Requests is package turns/requests.
	Requests = requests.Service
	// Live is package live.
	Live = live.Service
	// Analysis is package analysis.
	Analysis = analysis.Service
)

// Node is the rooms of one process.
type Node struct {
	*Sessions
	*Turns
	*Requests
	*Live
	*Analysis

	// Handover is package sessions/handover.
	Handover *handover.Service
}

// Deps is what the rooms work with. DB, Agents, Workspaces, Models, Seal and PublicURL are
// required.
type Deps struct {
	DB              *postgres.DB
	Agents          *agents.Service
	Workspaces      *workspaces.Service
	Models          turns.ModelFunc
	HasKeys         func(ref workspaces.Ref, has *bool) postgres.Step
	Installed       turns.ModelFunc
	Tools           *tools.Service
	Retriever       turns.Retriever
	Memory          *memory.Service
	Gate            *fair.Gate
	Seal            *seal.Keyring
	WAL             *wal.Log
	Prices          *usage.Prices
	PublicURL       string
	Log             *slog.Logger
	Now             func() time.Time
	FollowGrace     time.Duration
	TenantTurns     int
	ApprovalTimeout time.Duration
}

// New opens them.
func New(d Deps) *Node {
	s := sessions.New(sessions.Deps{
		DB: d.DB, Agents: d.Agents, Workspaces: d.Workspaces, Seal: d.Seal, PublicURL: d.PublicURL, Now: d.Now,
	})
	a := analysis.New(analysis.Deps{
		DB: d.DB, Sessions: s, Models: analysis.ModelFunc(d.Models), Memory: d.Memory, Gate: d.Gate, Prices: d.Prices, Seal: d.Seal, Log: d.Log,
	})
	store := pgstore.New(pgstore.Deps{DB: d.DB, Sessions: s, Tools: d.Tools, Retriever: d.Retriever, HasKeys: d.HasKeys, Prices: d.Prices})
	var kept turns.Store = store
	var database turns.Database
	if d.WAL != nil {
		j := journal.New(journal.Deps{Store: store, DB: d.DB, Sessions: s, Tools: d.Tools, WAL: d.WAL, Log: d.Log, Now: d.Now})
		kept, database = j, j
	}
	kept = content.New(kept, s)
	t := turns.New(turns.Deps{
		DB: d.DB, Sessions: s, Store: kept, Database: database, Models: d.Models, Installed: d.Installed,
		Tools: d.Tools, Retriever: d.Retriever, Memory: d.Memory, Gate: d.Gate, Seal: d.Seal,
		Prices: d.Prices, Log: d.Log, Now: d.Now, ApprovalTimeout: d.ApprovalTimeout,
	})
	r := requests.New(requests.Deps{
		DB: d.DB, Sessions: s, Turns: t, Tools: d.Tools, FollowGrace: d.FollowGrace, TenantTurns: d.TenantTurns,
	})
	l := live.New(live.Deps{DB: d.DB, Sessions: s, Turns: t, Requests: r, Tools: d.Tools, Log: d.Log, Now: d.Now})
	h := handover.New(handover.Deps{Sessions: s, Node: t.Node(), OnSaid: l.SendRecorded})
	return &Node{Sessions: s, Turns: t, Requests: r, Live: l, Analysis: a, Handover: h}
}

// Turn says a text to the agent and returns its recorded answer.
func (n *Node) Turn(
	ctx context.Context, p workspaces.Principal, id sessions.ID, text string, emit requests.EmitFunc,
) (sessions.Turn, error) {
	return n.Say(ctx, p, id, requests.Params{Text: text}, emit)
}

// Run keeps the node in touch with the others until ctx ends.
func (n *Node) Run(ctx context.Context) error { return n.Live.Run(ctx) }

// Close ends what is live on the node.
func (n *Node) Close(ctx context.Context) error { return n.Live.Close(ctx) }

// Sweep sweeps sessions and their analyses, as a worker does.
func (n *Node) Sweep(ctx context.Context, now time.Time) error {
	return errors.Join(n.Sessions.Sweep(ctx, now), n.Analysis.Sweep(ctx, now))
}
