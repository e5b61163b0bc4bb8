package app

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"

	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/sessions/latency"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/content"
	"parlance.dev/parlance/turns/journal"
	"parlance.dev/parlance/turns/pgstore"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

// openConversations makes the services of conversations: sessions, turns, live sockets, and the
// analysis of ended sessions.
func (a *App) openConversations(keyring *seal.Keyring) {
	a.Sessions = sessions.New(sessions.Deps{
		DB: a.db, Agents: a.Agents, Workspaces: a.Workspaces, Usage: a.Usage, Seal: keyring, PublicURL: a.publicBase(),
		Registry: a.metrics.Registry, Now: a.now,
	})
	a.Workspaces.OnDelete(a.Sessions.DiscardRunning)
	a.Recordings = recordings.New(recordings.Deps{DB: a.db, Workspaces: a.Workspaces, Bucket: a.bucket, Log: a.log, Now: a.now})
	gate := a.newGate("model", a.Config.ModelConcurrency)
	a.Analysis = analysis.New(analysis.Deps{
		DB: a.db, Sessions: a.Sessions, Models: a.models.Choose, Memory: a.Memory, Gate: gate, Prices: a.prices, Seal: keyring, Log: a.log,
		HasAudioFunc: a.Recordings.HasAudio,
	})
	var store turns.Store = pgstore.New(pgstore.Deps{
		DB: a.db, Sessions: a.Sessions, Tools: a.Tools, Retriever: retriever{a.Knowledge}, HasKeys: a.credentials.HasModels,
		Prices: a.prices,
	})
	var database turns.Database
	if a.wal != nil {
		j := journal.New(journal.Deps{
			Store: store, DB: a.db, Sessions: a.Sessions, Tools: a.Tools, WAL: a.wal, Registry: a.metrics.Registry, Log: a.log, Now: a.now,
		})
		store, database = j, j
	}
	store = content.New(store, a.Sessions)
	a.Turns = turns.New(turns.Deps{
		DB: a.db, Sessions: a.Sessions, Store: store, Database: database, Models: a.models.Choose, Installed: a.models.ChooseInstalled,
		Tools: a.Tools, Retriever: retriever{a.Knowledge}, Memory: a.Memory, Gate: gate, Seal: keyring,
		Usage: a.Usage, Prices: a.prices, Priced: a.models.priced(a.prices), Embedder: a.embedder,
		FenceKey: keyFor("fences", a.pageKey),
		Tracer:   a.traces, Registry: a.metrics.Registry, Log: a.log, Now: a.now,
	})
	a.Requests = requests.New(requests.Deps{DB: a.db, Sessions: a.Sessions, Turns: a.Turns, Tools: a.Tools})
	a.Live = live.New(live.Deps{
		DB: a.db, Sessions: a.Sessions, Turns: a.Turns, Requests: a.Requests, Tools: a.Tools, Log: a.log, Now: a.now,
	})
	a.handover = handover.New(handover.Deps{Sessions: a.Sessions, Node: a.Turns.Node(), OnSaid: a.Live.SendRecorded})
	a.Memory.SetAgreed(a.Turns.Agreed)
	calls := voice.Deps{
		StackFunc: a.speech.Choose, Recordings: a.Recordings, Metrics: voice.NewMetrics(a.metrics.Registry), Log: a.log, Now: a.now,
		MeterFunc: func(ctx context.Context, place usage.Place, records ...usage.Record) error {
			return usage.Add(ctx, a.db, place, records...)
		},
		LatencyFunc: func(ctx context.Context, tenant workspaces.TenantID, turn sessions.TurnID, speech sessions.SpeechMetrics) error {
			return latency.Record(ctx, a.db, tenant, turn, speech)
		},
		SaidFunc: func(ctx context.Context, session sessions.Session, turn sessions.TurnID, message sessions.Message) error {
			return a.Turns.AcceptUnanswered(ctx, turns.AcceptParams{Session: session, New: turn, Message: message})
		},
	}
	if a.endModel != nil {
		calls.EndModel = a.endModel
	}
	a.Voice = voice.New(calls)
}

// openPrivacy makes the service of exports and erasures, which needs all that know of users.
func (a *App) openPrivacy() {
	a.Privacy = privacy.New(privacy.Deps{
		DB: a.db, Workspaces: a.Workspaces, Users: a.userHashes, Sessions: a.Sessions, Memory: a.Memory, Webhooks: a.Webhooks,
		Answers: a.answers, Recordings: a.Recordings, Bucket: a.bucket,
		ForgetFramesFunc: func(ctx context.Context, ids ...sessions.ID) error {
			return realtime.ForgetFrames(ctx, a.redis, ids...)
		},
		CancelCallsFunc: a.Calls.CancelUser,
		Links:           privacy.Links{PublicURL: a.publicBase(), Key: keyFor("exports", a.pageKey)}, Log: a.log, Now: a.now,
	})
}

// keyFor derives the key of one purpose from the installation's secret, so that what one of them
// gives away says nothing of another.
func keyFor(purpose string, secret []byte) []byte {
	key, err := hkdf.Expand(sha256.New, secret, "parlance "+purpose, sha256.Size)
	if err != nil {
		panic(err) // only for keys that are too long
	}
	return key
}

// conversations are what SessionService is served from.
func (a *App) conversations() rpc.Conversations {
	return rpc.Conversations{
		Sessions: a.Sessions, Turns: a.Turns, Requests: a.Requests, Analysis: a.Analysis, Tools: a.Tools, Privacy: a.Privacy,
		Handover: a.handover, Recordings: a.Recordings, Currency: a.prices.Currency(),
	}
}
