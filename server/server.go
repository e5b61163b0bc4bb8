package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	connectcors "connectrpc.com/cors"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"connectrpc.com/otelconnect"
	"github.com/rs/cors"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/signin"
)

const (
	// compressMinBytes is the size from which answers are compressed: gzip costs more time than it
	// saves for an answer of a few packets. Design 4 has 1 KiB; the answer to creating a session has
	// 2 KiB.
	compressMinBytes = 4096
	// readMaxBytes is the largest RPC message.
	readMaxBytes = 8 << 20
	// readHeaderTimeout ends connections that never finish their headers.
	readHeaderTimeout = 10 * time.Second
	// idleTimeout ends keep-alive connections without requests.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes has room for long tokens and URLs; more is refused with 431.
	maxHeaderBytes = 64 << 10
	// maxStreams is the number of concurrent requests on one HTTP/2 connection; a proxy sends those
	// of many callers.
	maxStreams = 1000
	// streamPing is how long an HTTP/2 connection with open streams may be silent before it is
	// pinged, and how long the answer to the ping may take.
	streamPing = 20 * time.Second
)

// Services are the Connect handlers of the contract; all are required.
type Services struct {
	Workspaces parlancev1connect.WorkspaceServiceHandler
	APIKeys    parlancev1connect.ApiKeyServiceHandler
	Sessions   parlancev1connect.SessionServiceHandler
	// InWorkspace resolves the workspace that each request of the following services names.
	InWorkspace connect.Interceptor
	Agents      parlancev1connect.AgentServiceHandler
	Tools       parlancev1connect.ToolServiceHandler
	Knowledge   parlancev1connect.KnowledgeServiceHandler
	Webhooks    parlancev1connect.WebhookServiceHandler
	Credentials parlancev1connect.ProviderCredentialServiceHandler
	Memory      parlancev1connect.MemoryServiceHandler
	Privacy     parlancev1connect.PrivacyServiceHandler
	Audit       parlancev1connect.AuditServiceHandler
	Usage       parlancev1connect.UsageServiceHandler
	Billing     parlancev1connect.BillingServiceHandler
	Callbacks   parlancev1connect.CallbackServiceHandler
	Telephony   parlancev1connect.TelephonyServiceHandler
	People      parlancev1connect.PeopleServiceHandler
	Insights    parlancev1connect.InsightServiceHandler
	Queues      parlancev1connect.QueueServiceHandler
}

// byName returns the services by their names.
func (s Services) byName() map[string]any {
	return map[string]any{
		parlancev1connect.WorkspaceServiceName: s.Workspaces, parlancev1connect.ApiKeyServiceName: s.APIKeys,
		parlancev1connect.SessionServiceName: s.Sessions, parlancev1connect.AgentServiceName: s.Agents,
		parlancev1connect.ToolServiceName: s.Tools, parlancev1connect.KnowledgeServiceName: s.Knowledge,
		parlancev1connect.WebhookServiceName: s.Webhooks, parlancev1connect.ProviderCredentialServiceName: s.Credentials,
		parlancev1connect.MemoryServiceName: s.Memory, parlancev1connect.AuditServiceName: s.Audit,
		parlancev1connect.PrivacyServiceName: s.Privacy, parlancev1connect.UsageServiceName: s.Usage,
		parlancev1connect.BillingServiceName: s.Billing, parlancev1connect.CallbackServiceName: s.Callbacks,
		parlancev1connect.TelephonyServiceName: s.Telephony, parlancev1connect.PeopleServiceName: s.People,
		parlancev1connect.InsightServiceName: s.Insights, parlancev1connect.QueueServiceName: s.Queues,
	}
}

// Deps is what NewHandler needs; all but CORSOrigins, Manual and Nonce are required.
type Deps struct {
	Services Services
	// Manual holds the handlers of the REST routes that are not transcoded, by procedure.
	Manual   map[string]http.Handler
	Realtime http.Handler
	// Exports serves privacy.DownloadPath.
	Exports http.Handler
	// StripeWebhook takes the events of Stripe, which proves itself by a signature.
	StripeWebhook http.Handler
	// CarrierHooks takes the requests of telephone carriers below telephonyPath, which prove
	// themselves by a signature, and Media the media sockets of calls.
	CarrierHooks, Media http.Handler
	// Line, unless nil, has the phones of a simulated line, for callers who may use agents.
	Line http.Handler
	// Console holds the files of the session page.
	Console fs.FS
	// Widget holds the scripts that customers' pages load.
	Widget fs.FS
	// SignIn serves signin.Path.
	SignIn http.Handler
	Gate   *interceptor.Gate
	// Once replays the answers to requests with Idempotency-Key.
	Once *interceptor.Once
	// Audit writes the audit log.
	Audit *interceptor.Audit
	// Masked masks personal data in what analysts are answered.
	Masked *interceptor.Masked
	// PageKey authenticates page tokens. It has 32 bytes, the same on every server.
	PageKey []byte
	// Caller says which URL callers use, and which proxies are trusted.
	Caller      interceptor.CallerConfig
	CORSOrigins []string
	Metrics     *telemetry.Metrics
	// MetricsPublic serves /metrics beside the API.
	MetricsPublic bool
	Tracer        trace.TracerProvider
	Log           *slog.Logger
	Now           func() time.Time
	// Ready are the checks of /readyz by name.
	Ready map[string]Check
	// Degraded are checks whose failure /readyz reports without making the server unready.
	Degraded map[string]Check
	// Nonce reports whether a caller of probe.Path belongs to the installation; nil: no caller does.
	Nonce func(ctx context.Context, nonce string) bool
}

// realtimePath is the prefix of the paths of WebSockets.
const realtimePath = "/v1/realtime/"

// telephonyPath is the prefix of what carriers call; see telephony.ParsePath.
const telephonyPath = "/v1/telephony/"

// NewHandler makes one handler of all protocols.
func NewHandler(d Deps) (http.Handler, error) {
	rpcMux, err := newRPC(d)
	if err != nil {
		return nil, err
	}
	problems := problem.Writer{PublicURL: baseURLOf}
	facade := rest.New(withStripeWebhook(rest.Config{
		Routes: parlancev1rest.Routes, RPC: rpcMux, Manual: d.Manual, PublicURL: baseURLOf, Admit: d.Gate.Admit,
	}, d.StripeWebhook))
	mux := http.NewServeMux()
	registerSystem(mux, d, problems)
	if err := registerConsole(mux, d.Console, problems); err != nil {
		return nil, err
	}
	if err := registerWidget(mux, d.Widget, problems); err != nil {
		return nil, err
	}
	mux.Handle(signin.Path, d.SignIn)
	mux.Handle(realtimePath, interceptor.WithVersion(d.Realtime, problems))
	mux.Handle(privacy.DownloadPath, getOnly(d.Exports.ServeHTTP, problems))
	mux.Handle(telephonyPath, withCarriers(d))
	mux.Handle("/", facade)
	compressor := &interceptor.Compressor{Least: compressMinBytes}
	plain, direct := compressor.Wrap(mux), interceptor.WithCookie(interceptor.WithMessageLimit(rpcMux, readMaxBytes))
	transcoded := compressor.Wrap(facade)
	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		toRPC, isREST := isRPC(r.URL.Path), strings.HasPrefix(r.URL.Path, "/v1/")
		if toRPC || isREST {
			interceptor.SetVersion(w.Header())
		}
		if toRPC {
			direct.ServeHTTP(w, r)
			return
		}
		unclean := path.Clean(r.URL.Path) != r.URL.Path && r.URL.Path != consolePath // net/http's mux would redirect to another route
		if unclean || isREST && !isPlain(r.URL.Path) {
			transcoded.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
	logger := &interceptor.Logger{Log: d.Log, Metrics: d.Metrics, Now: d.Now, Problem: problems, Tracer: d.Tracer}
	logged := logger.Wrap(root, routeName(d.Gate.Policies))
	named := interceptor.WithCaller(withCORS(logged, d.CORSOrigins), d.Caller)
	return interceptor.WithRequestID(interceptor.WithBodyDeadlines(named, d.Now)), nil
}

// isPlain reports whether a path below /v1/ is no route of the facade.
func isPlain(path string) bool {
	return strings.HasPrefix(path, realtimePath) || strings.HasPrefix(path, telephonyPath)
}

// baseURLOf returns the scheme and host of the URLs in the answer to a request.
func baseURLOf(r *http.Request) string { return interceptor.BaseURL(r.Context()) }

// isRPC reports whether a path names a procedure: "/package.Service/Method".
func isRPC(path string) bool {
	service, method, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return found && strings.Contains(service, ".") && method != "" && !strings.Contains(method, "/")
}

// newRPC makes the mux of the Connect handlers, behind the gate.
func newRPC(d Deps) (http.Handler, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("make the validator: %w", err)
	}
	tracing, err := otelconnect.NewInterceptor(otelconnect.WithTracerProvider(d.Tracer),
		otelconnect.WithoutServerPeerAttributes(), otelconnect.WithoutMetrics(),
		otelconnect.WithPropagator(propagation.NewCompositeTextMapPropagator())) // the HTTP span is part of the caller's trace already
	if err != nil {
		return nil, fmt.Errorf("make the tracing interceptor: %w", err)
	}
	calls := &interceptor.RPC{
		Log: d.Log, Metrics: d.Metrics, Now: d.Now, Validator: validator,
		Undecoded: rest.Undecoded, Pages: interceptor.NewPages(d.PageKey), Policies: d.Gate.Policies,
	}
	opts := []connect.HandlerOption{
		connect.WithInterceptors(tracing, calls, interceptor.Standing{Now: d.Now}, d.Masked, d.Once),
		connect.WithCompressMinBytes(compressMinBytes),
		connect.WithReadMaxBytes(readMaxBytes), interceptor.Gzip(readMaxBytes), rest.ConnectCodecs(),
	}
	audited := connect.WithInterceptors(d.Audit.Interceptor(d.Services.byName()))
	inWorkspace := connect.WithHandlerOptions(append(slices.Clone(opts), connect.WithInterceptors(d.Services.InWorkspace), audited)...)
	inTenant := connect.WithHandlerOptions(append(slices.Clone(opts), audited)...)
	mux := http.NewServeMux()
	mux.Handle(parlancev1connect.NewWorkspaceServiceHandler(d.Services.Workspaces, inTenant))
	mux.Handle(parlancev1connect.NewApiKeyServiceHandler(d.Services.APIKeys, inTenant))
	mux.Handle(parlancev1connect.NewSessionServiceHandler(d.Services.Sessions, inTenant))
	mux.Handle(parlancev1connect.NewAgentServiceHandler(d.Services.Agents, inWorkspace))
	mux.Handle(parlancev1connect.NewToolServiceHandler(d.Services.Tools, inWorkspace))
	mux.Handle(parlancev1connect.NewKnowledgeServiceHandler(d.Services.Knowledge, inWorkspace))
	mux.Handle(parlancev1connect.NewWebhookServiceHandler(d.Services.Webhooks, inWorkspace))
	mux.Handle(parlancev1connect.NewProviderCredentialServiceHandler(d.Services.Credentials, inWorkspace))
	mux.Handle(parlancev1connect.NewMemoryServiceHandler(d.Services.Memory, inWorkspace))
	mux.Handle(parlancev1connect.NewPrivacyServiceHandler(d.Services.Privacy, inWorkspace))
	mux.Handle(parlancev1connect.NewAuditServiceHandler(d.Services.Audit, inTenant))
	mux.Handle(parlancev1connect.NewUsageServiceHandler(d.Services.Usage, inTenant))
	mux.Handle(parlancev1connect.NewBillingServiceHandler(d.Services.Billing, inTenant))
	mux.Handle(parlancev1connect.NewCallbackServiceHandler(d.Services.Callbacks, inWorkspace))
	mux.Handle(parlancev1connect.NewTelephonyServiceHandler(d.Services.Telephony, inWorkspace))
	mux.Handle(parlancev1connect.NewPeopleServiceHandler(d.Services.People, inTenant))
	mux.Handle(parlancev1connect.NewInsightServiceHandler(d.Services.Insights, inTenant))
	mux.Handle(parlancev1connect.NewQueueServiceHandler(d.Services.Queues, inTenant))
	names := interceptor.ServiceNames()
	mux.Handle(grpchealth.NewHandler(healthChecker{services: names, ready: d.Ready}))
	reflector := grpcreflect.NewStaticReflector(names...)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
	return d.Gate.WrapRPC(refusingMux(mux, problem.Writer{PublicURL: baseURLOf}), opts...), nil
}

// withCORS allows browsers from the origins to use every HTTP protocol. Without origins it allows
// none.
func withCORS(next http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: append(connectcors.AllowedMethods(), http.MethodPatch, http.MethodPut, http.MethodDelete),
		AllowedHeaders: append(connectcors.AllowedHeaders(), "Authorization", idempotency.Header,
			interceptor.RequestIDHeader, interceptor.VersionHeader, "Traceparent", "Tracestate",
			"If-Match",
			"Last-Event-ID", "Cache-Control"), // sent by clients that resume an event stream
		ExposedHeaders: append(connectcors.ExposedHeaders(), "Location", "ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining",
			"RateLimit-Reset", "Content-Disposition", interceptor.ReplayedHeader, interceptor.RequestIDHeader,
			interceptor.VersionHeader, "Deprecation", "Sunset", "Link"),
		MaxAge: 7200,
	}).Handler(next)
}

// Serve answers requests on the listener until ctx ends. It then accepts no new requests and waits
// at most drain for those that run. WebSockets end with the context that their handler was made
// with.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, drain time.Duration, log *slog.Logger) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{
		Handler: handler, Protocols: protocols, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: streamPing,
			PingTimeout: streamPing, WriteByteTimeout: writeStall,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := srv.Shutdown(stopping)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were still running after %s", drain), srv.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
