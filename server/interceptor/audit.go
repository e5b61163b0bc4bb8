package interceptor

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/workspaces"
)

// AuditDeps is what an Audit works with. All but Actor and Now are required.
type AuditDeps struct {
	Entries *audit.Service
	// HashUser replaces the ids of end users.
	HashUser func(ctx context.Context, tenant workspaces.TenantID, userID string) (string, error)
	Policies Policies
	// Actor makes every change instead of the caller in the context, when it is set.
	Actor audit.Actor
	Log   *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Audit writes entries of the audit log about calls. Which calls that are is said by the policy of
// each method, so that a new method is covered without being named.
type Audit struct {
	deps    AuditDeps
	methods map[string]*auditedMethod
	// kinds are the types of resources by the fields of paths that name them.
	kinds map[string]string

	mu sync.Mutex
	// refused is when a refusal was recorded last, by key and method. Guarded by mu.
	refused map[string]time.Time
}

const (
	// refusalPause is how long further refusals of the same key and method are not recorded: a key
	// that may not change anything must not fill a log that nobody can shorten.
	refusalPause = time.Minute
	// maxRefusals bounds what is remembered of refusals.
	maxRefusals = 10_000
)

// repeated reports whether a refusal was recorded a moment ago, and notes this one otherwise.
func (a *Audit) repeated(p workspaces.Principal, procedure string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	key, now := p.CallerID()+" "+procedure, a.deps.Now()
	if last, known := a.refused[key]; known && now.Sub(last) < refusalPause {
		return true
	}
	if a.refused == nil || len(a.refused) >= maxRefusals {
		a.refused = map[string]time.Time{}
	}
	a.refused[key] = now
	return false
}

// NewAudit makes an Audit.
func NewAudit(d AuditDeps) *Audit {
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Audit{deps: d, methods: auditedMethods(d.Policies), kinds: resourceKinds()}
}

// kindOf returns the type of the resource that a field of a path names.
func (a *Audit) kindOf(field string) string {
	if kind, known := a.kinds[field]; known {
		return kind
	}
	return strings.TrimSuffix(field, idSuffix)
}

// methodOf returns the method of a call that gets an entry, nil for any other call.
func (a *Audit) methodOf(ctx context.Context, procedure string) *auditedMethod {
	if a == nil { // handlers under test may have none
		return nil
	}
	method := a.methods[procedure]
	if method == nil || method.keysOnly && workspaces.PrincipalFrom(ctx).SessionID != "" {
		return nil
	}
	return method
}

// AuditedCall is a call of a handler that Connect does not know.
type AuditedCall struct {
	Procedure string
	Header    http.Header
	// Request holds the ids of the path.
	Request proto.Message
}

// Do does the work of a call and writes its entry before it returns. Errors: those of work;
// Unavailable unavailable when the entry could not be written.
func (a *Audit) Do(ctx context.Context, c AuditedCall, work func(context.Context) (proto.Message, error)) error {
	method := a.methodOf(ctx, c.Procedure)
	if method == nil {
		_, err := work(ctx)
		return err
	}
	change, err := a.begin(ctx, method, c.Header, c.Request, nil)
	if err != nil {
		return err
	}
	answer, err := work(ctx)
	return change.settle(ctx, answer, err)
}

// Read writes the entry of a call that takes data out, before the first byte is sent.
func (a *Audit) Read(ctx context.Context, c AuditedCall) error {
	return a.Do(ctx, c, func(context.Context) (proto.Message, error) { return nil, nil })
}

// Refused writes the entry of a call that was refused before its body was read. It logs an error.
func (a *Audit) Refused(ctx context.Context, p workspaces.Principal, procedure string, header http.Header, err error) {
	ctx = workspaces.WithPrincipal(ctx, p)
	method := a.methodOf(ctx, procedure)
	if method == nil || a.repeated(p, procedure) {
		return
	}
	entry := a.entry(ctx, method, header)
	entry.WorkspaceID, entry.Outcome = p.WorkspaceID, audit.Outcome(decisionOf(err).Reason)
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if err := a.deps.Entries.Append(ctx, entry); err != nil {
		a.deps.Log.ErrorContext(ctx, "refusal not written to the audit log", telemetry.KeyError, err)
	}
}

// entry returns what is known of a call before its request is read.
func (a *Audit) entry(ctx context.Context, method *auditedMethod, header http.Header) audit.Entry {
	p := workspaces.PrincipalFrom(ctx)
	actor := a.deps.Actor
	switch {
	case actor.Kind != "":
	case p.SessionID != "":
		actor = audit.Actor{Kind: audit.ActorSession, ID: p.SessionID}
	case p.PersonID != "":
		actor = audit.Actor{Kind: audit.ActorPerson, ID: string(p.PersonID), Name: p.CallerName()}
	default:
		actor = audit.Actor{Kind: audit.ActorKey, ID: string(p.KeyID), Name: p.CallerName()}
	}
	entry := audit.Entry{
		TenantID: p.TenantID, ActorKind: actor.Kind, ActorID: actor.ID, ActorName: actor.Name, Action: method.action,
		UserAgent: header.Get("User-Agent"), RequestID: RequestID(ctx),
	}
	if address := ClientAddress(ctx); address.IsValid() {
		entry.RemoteAddress = address.String()
	}
	return entry
}

// change is a call whose entry is not written yet.
type change struct {
	audit   *Audit
	method  *auditedMethod
	request proto.Message
	before  proto.Message
	pending *audit.Pending
}

// begin notes that a call begins. before is the resource as it is; it may be nil.
func (a *Audit) begin(
	ctx context.Context, method *auditedMethod, header http.Header, request, before proto.Message,
) (*change, error) {
	c := &change{audit: a, method: method, request: request, before: before}
	entry := a.entry(ctx, method, header)
	if err := c.describe(ctx, &entry, nil); err != nil {
		return nil, err
	}
	var err error
	c.pending, err = a.deps.Entries.Begin(ctx, entry)
	return c, err
}

// describe sets what an entry says of the resource. answer is nil before the work.
func (c *change) describe(ctx context.Context, entry *audit.Entry, answer proto.Message) (err error) {
	hash := func(userID string) (string, error) { return c.audit.deps.HashUser(ctx, entry.TenantID, userID) }
	for _, message := range []proto.Message{c.request, c.before, answer} {
		if id := idOf(message, userIDField); id != "" && entry.UserHash == "" {
			if entry.UserHash, err = hash(id); err != nil {
				return err
			}
		}
	}
	c.setResource(entry, answer)
	r := auditRecorder{hashUser: hash}
	before, err := recordedFields(r, c.before)
	if err != nil {
		return err
	}
	after, err := recordedFields(r, c.recordable(answer))
	if err != nil {
		return err
	}
	if answer != nil {
		before, after = changesOf(before, after)
		after = c.addWritten(after, answer)
	}
	if entry.Before, err = settings(before); err != nil {
		return err
	}
	entry.After, err = settings(after)
	return err
}

// recordedFields are the fields of a message, nil for no message.
func recordedFields(r auditRecorder, message proto.Message) (map[string]any, error) {
	if message == nil {
		return nil, nil //nolint:nilnil // there is no resource
	}
	return r.fields(message.ProtoReflect())
}

// recordable returns the answer of a call that returns one message, nil for others and for an
// empty one.
func (c *change) recordable(answer proto.Message) proto.Message {
	if answer == nil || c.method.descriptor.IsStreamingServer() || answer.ProtoReflect().Descriptor().Fields().Len() == 0 {
		return nil
	}
	return answer
}

// addWritten adds the secrets that the request has set and that no answer shows, without their
// values.
func (c *change) addWritten(after map[string]any, answer proto.Message) map[string]any {
	request, shown := c.request.ProtoReflect(), answer.ProtoReflect().Descriptor().Fields()
	request.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if privacyOf(field) == parlancev1.Privacy_PRIVACY_SECRET && shown.ByName(field.Name()) == nil {
			if after == nil {
				after = map[string]any{}
			}
			after[string(field.Name())] = hideSecret(field, value)
		}
		return true
	})
	return after
}

// setResource finds out which resource the call is about, its parent and its workspace.
func (c *change) setResource(entry *audit.Entry, answer proto.Message) {
	type resource struct{ kind, id string }
	var path []resource
	for _, name := range c.method.ids {
		id := idOf(c.request, name)
		if name == userIDField {
			id = entry.UserHash
		}
		path = append(path, resource{c.audit.kindOf(name), id})
	}
	if id := idOf(answer, "id"); id != "" && c.method.creates {
		path = append(path, resource{snake(string(answer.ProtoReflect().Descriptor().Name())), id})
	}
	entry.WorkspaceID = workspaces.ID(c.workspaceID(answer))
	if len(path) == 0 && c.method.inWorkspace {
		path = append(path, resource{"workspace", string(entry.WorkspaceID)})
	}
	if len(path) > 0 {
		entry.ResourceType, entry.ResourceID = path[len(path)-1].kind, path[len(path)-1].id
	}
	if len(path) > 1 {
		entry.ParentID = path[len(path)-2].id
	}
}

// workspaceID returns the workspace that the path, the answer or the resource before names.
func (c *change) workspaceID(answer proto.Message) string {
	for _, message := range []proto.Message{c.request, answer, c.before} {
		if made, ok := message.(*parlancev1.Workspace); ok {
			return made.GetId()
		}
		if id := idOf(message, "workspace_id"); id != "" {
			return id
		}
	}
	return ""
}

// settle ends a call: its entry is written, or nothing when nothing was changed. It returns the
// error for the caller.
func (c *change) settle(ctx context.Context, answer proto.Message, err error) error {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if err == nil {
		return c.finish(ctx, audit.Done, answer)
	}
	decided := decisionOf(err)
	switch {
	case decided.Reason == fault.AuthScope:
		_ = c.finish(ctx, audit.Outcome(decided.Reason), nil) // logged; the caller hears of the refusal
	case idempotency.OutcomeUnknown(decided) && decided.Kind() != fault.Unimplemented:
		_ = c.finish(ctx, audit.Unknown, nil) // logged; if it fails, Sweep writes the same
	default:
		if dropErr := c.pending.Drop(ctx); dropErr != nil {
			c.audit.deps.Log.WarnContext(ctx, "begun change not removed: it will be in the audit log as unknown", telemetry.KeyError, dropErr)
		}
	}
	return err
}

// finish writes the entry, and tries again while the database is unavailable.
func (c *change) finish(ctx context.Context, outcome audit.Outcome, answer proto.Message) error {
	for {
		err := c.write(ctx, outcome, answer)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			c.audit.deps.Log.ErrorContext(ctx, "entry of the audit log not written", telemetry.KeyError, err)
			return fault.New(fault.ServiceUnavailable, "The request was carried out, but its entry in the audit log could not be written yet: "+
				"it will follow with the outcome unknown. Look at what was changed before you repeat the request.")
		}
		_ = ticker.Wait(ctx, storeRetryPause) // the last try is made when ctx has ended
	}
}

func (c *change) write(ctx context.Context, outcome audit.Outcome, answer proto.Message) error {
	return c.pending.Finish(ctx, func(entry *audit.Entry) error {
		entry.Outcome = outcome
		if outcome != audit.Done && outcome != audit.Unknown { // refused: nothing was changed
			entry.Before, entry.After = nil, nil
		}
		if answer == nil {
			return nil
		}
		return c.describe(ctx, entry, answer)
	})
}
