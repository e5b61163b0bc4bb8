package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/console"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/sdk/widget"
	"parlance.dev/parlance/server"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/sessions/latency"
)

// handler joins all protocols. WebSockets end when ctx does; wait for them with the second result.
func (a *App) handler(ctx context.Context) (http.Handler, *realtime.Handler, error) {
	policies, err := interceptor.NewPolicies()
	if err != nil {
		return nil, nil, err
	}
	problems := problem.Writer{PublicURL: func(r *http.Request) string { return interceptor.BaseURL(r.Context()) }}
	access, stopping := rpc.NewAccess(a.Workspaces), rpc.NewStopping(ctx)
	audits := interceptor.NewAudit(interceptor.AuditDeps{
		Entries: a.audit, HashUser: a.userHashes.Hash, Policies: policies, Log: a.log, Now: a.now,
	})
	reader := rpc.AuditReader{Access: access, Entries: a.audit, Users: a.userHashes}
	gate := &interceptor.Gate{
		Policies: policies, Audit: audits, Sessions: a.Sessions, People: a.People, ReachFunc: a.Turns.Reach,
		Keys: interceptor.NewUnknownKeys(interceptor.UnknownKeysDeps{
			Keys: a.Workspaces, PerMinute: a.Config.UnknownKeysPerMinute, Now: a.now, Registry: a.metrics.Registry,
		}),
		Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
			Redis: a.redis, Plan: a.Workspaces.PlanNamed, SessionPerMinute: a.Config.SessionRequestsPerMinute,
			Now: a.now, Log: a.log, Registry: a.metrics.Registry,
		}),
	}
	once := interceptor.NewOnce(a.answers, a.log, policies)
	sockets := realtime.New(realtime.Deps{
		Sessions: a.Live, Voice: a.Voice, Calls: a.Calls, Log: a.log, Now: a.now,
		Problem: problems, Context: ctx, Registry: a.metrics.Registry, Redis: a.redis,
		Limits: realtime.Limits{MaxSockets: a.Config.SocketMax, MaxSocketsPerTenant: a.Config.SocketMaxPerTenant},
	})
	handler, err := server.NewHandler(server.Deps{
		Services: server.Services{
			Workspaces: rpc.NewWorkspaces(access, a.Workspaces), APIKeys: rpc.NewAPIKeys(a.Workspaces),
			InWorkspace: access.Interceptor(), Agents: rpc.NewAgents(a.Agents, &latency.Service{DB: a.db, Agents: a.Agents, Now: a.now}),
			Tools:       rpc.NewTools(a.Tools),
			Knowledge:   rpc.NewKnowledge(access, a.Knowledge, a.webpages, a.evaluations, stopping),
			Sessions:    rpc.NewSessions(a.conversations()),
			Webhooks:    rpc.NewWebhooks(access, a.Webhooks, stopping),
			Credentials: rpc.NewCredentials(a.credentials, credentialTester{a.models, a.speech, a.carriers}),
			Memory:      rpc.NewMemory(a.Memory), Privacy: rpc.NewPrivacy(a.Privacy), Audit: rpc.NewAudit(reader),
			Usage: rpc.NewUsage(rpc.UsageReader{
				Usage: a.Usage, Workspaces: a.Workspaces, Sessions: a.Sessions, Currency: a.prices.Currency(),
			}),
			Billing:   rpc.NewBilling(a.Billing),
			Callbacks: rpc.NewCallbacks(access, a.Callbacks), Telephony: rpc.NewTelephony(a.Calls, a.Numbers),
			Insights: rpc.NewInsights(a.Insights), Queues: rpc.NewQueues(a.Insights),
			People: rpc.NewPeople(a.People, a.Workspaces),
		},
		Manual: rpc.NewFiles(rpc.FileDeps{
			Access: access, Knowledge: a.Knowledge, Sessions: a.Sessions, Recordings: a.Recordings,
			Callbacks: a.Callbacks, Admit: gate.Admit, Once: once, Audit: audits,
			Problem: problems, Log: a.log, Now: a.now,
		}, reader),
		Gate: gate, Once: once, Audit: audits, PageKey: a.pageKey, CORSOrigins: a.Config.CORSOrigins,
		Caller:   interceptor.CallerConfig{PublicURL: a.Config.PublicURL, Proxies: a.Config.TrustedProxies},
		Realtime: sockets, Exports: rpc.NewExports(a.Privacy, problems), StripeWebhook: rpc.NewStripeWebhook(a.Billing, problems),
		CarrierHooks: rpc.NewCarrierHooks(a.Calls, problems), Media: http.HandlerFunc(sockets.ServeMedia),
		Line:    rpc.NewLine(a.Line, gate.Admit, problems),
		Console: console.Files(), Widget: widget.Files(), SignIn: a.signIn(problems), Masked: interceptor.NewMasked(a.userHashes.Hash),
		Metrics: a.metrics, MetricsPublic: a.Config.MetricsListen == MetricsPublic, Tracer: a.traces, Log: a.log, Now: a.now,
		Ready: map[string]server.Check{
			"postgres": a.db.PingContext,
			"redis":    func(ctx context.Context) error { return redis.Ping(ctx, a.redis, redis.ReadyWithin) },
			"bucket":   a.bucket.Check,
		},
		Degraded: a.degraded(),
		Nonce: func(ctx context.Context, nonce string) bool {
			known, err := redis.HasNonce(ctx, a.redis, nonce)
			return known && err == nil
		},
	})
	return handler, sockets, err
}

// lastAnswers is how long callers of requests that were cut off at the end of SHUTDOWN_TIMEOUT may
// take to be told so.
const lastAnswers = 2 * time.Second

// Serve answers on the listener until ctx ends, and then drains: clients of WebSockets are told to
// reconnect, and running requests may finish within SHUTDOWN_TIMEOUT.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	metrics, err := a.openMetrics(ctx, a.metricsListen())
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	handler, sockets, err := a.handler(ctx)
	if err != nil {
		return err
	}
	group.Go(func() error { return metrics(ctx) })
	group.Go(func() error { return a.Live.Run(ctx) })
	group.Go(func() error {
		_ = a.Memory.Run(ctx) // only the error of the context: it reconnects by itself
		return nil
	})
	group.Go(func() error { return a.serveDebug(ctx) })
	group.Go(func() error { return server.Serve(ctx, listener, handler, a.Config.ShutdownTimeout+lastAnswers, a.log) })
	group.Go(func() error {
		<-ctx.Done()
		draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Config.ShutdownTimeout)
		defer cancel()
		// Close frames are written after the sessions have released their sockets.
		return errors.Join(a.Live.Close(draining), sockets.Wait(draining), sockets.Close(draining), a.Voice.Close(draining))
	})
	return group.Wait()
}
