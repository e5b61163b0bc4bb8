package fault

import "slices"

// Reason is the public, permanent slug of a failure: what clients switch on. It is the
// `code` of problem+json and the `reason` of google.rpc.ErrorInfo.
type Reason string

// The reasons. Source: decisions, Errors.
const (
	AuthMissing            Reason = "auth-missing"
	AuthInvalidKey         Reason = "auth-invalid-key"
	AuthScope              Reason = "auth-scope"
	ResourceNotFound       Reason = "not-found"
	RouteNotFound          Reason = "route-not-found"
	MethodNotAllowedReason Reason = "method-not-allowed"
	InvalidRequest         Reason = "invalid-request"
	BodyTooLarge           Reason = "body-too-large"
	UnsupportedEncoding    Reason = "unsupported-media-type"
	NameTaken              Reason = "name-taken"
	Conflict               Reason = "conflict"
	VersionMismatch        Reason = "version-mismatch"
	WorkspacesFull         Reason = "workspaces-full"
	KeysFull               Reason = "api-keys-full"
	APIKeyOverlap          Reason = "api-key-overlap"
	PersonIsLastOwner      Reason = "person-is-last-owner"

	ToolNameReserved     Reason = "tool-name-reserved"
	ToolSlugTaken        Reason = "tool-slug-taken"
	ToolArgumentsInvalid Reason = "tool-arguments-invalid"
	ToolVariableMissing  Reason = "tool-variable-missing"
	PlanToolsNotEnabled  Reason = "plan-tools-not-enabled"
	PlanMCPNotEnabled    Reason = "plan-mcp-not-enabled"
	PlanModelNotEnabled  Reason = "plan-model-not-enabled"
	SystemToolAlwaysOn   Reason = "system-tool-always-on"

	AgentDraftNotFound Reason = "agent-draft-not-found"
	AgentDraftChanged  Reason = "agent-draft-changed"
	AgentDraftStale    Reason = "agent-draft-stale"

	MemoryFull Reason = "memory-full"

	QuotaKBStorage         Reason = "quota-exceeded-kb-storage"
	QuotaKBUploadSize      Reason = "quota-exceeded-kb-upload-size"
	KBUnsupportedMediaType Reason = "kb-unsupported-media-type"
	KBSourceNotReady       Reason = "kb-source-not-ready"
	KBNothingToRestore     Reason = "kb-nothing-to-restore"
	KBURLTaken             Reason = "kb-url-taken"
	KBNoURL                Reason = "kb-no-url"

	FatigueWindowUsedUp Reason = "fatigue-window-used-up"

	QuotaSessions       Reason = "quota-exceeded-sessions"
	QuotaUsage          Reason = "quota-exceeded-usage"
	QuotaBudget         Reason = "quota-exceeded-budget"
	UsageAlertsFull     Reason = "usage-alerts-full"
	OverrideNotAllowed  Reason = "override-not-allowed"
	SessionTokenInvalid Reason = "session-token-invalid"
	SessionClosed       Reason = "session-closed"
	SessionModality     Reason = "session-modality"
	OriginNotAllowed    Reason = "origin-not-allowed"
	STTNotConfigured    Reason = "stt-not-configured"
	ApprovalDecided     Reason = "approval-decided"
	SessionTakenOver    Reason = "session-taken-over"
	SessionNotTakenOver Reason = "session-not-taken-over"

	CallbackNotAllowed   Reason = "callback-not-allowed"
	CallbackNotScheduled Reason = "callback-not-scheduled"
	CallbackBatchOver    Reason = "callback-batch-over"
	CallNotInProgress    Reason = "call-not-in-progress"

	WebhookURLNotHTTPS     Reason = "webhook-url-not-https"
	WebhookURLNotPublic    Reason = "webhook-url-not-public"
	WebhookURLUnresolvable Reason = "webhook-url-unresolvable"
	WebhookEventUnknown    Reason = "webhook-event-unknown"
	WebhookEndpointsFull   Reason = "webhook-endpoints-full"
	EventsCursorExpired    Reason = "events-cursor-expired"

	ProviderNotConfigured  Reason = "provider-not-configured"
	BillingCustomerMissing Reason = "billing-customer-missing"
	SignatureInvalid       Reason = "signature-invalid"

	RateLimitedReason   Reason = "rate-limited"
	IdempotencyReused   Reason = "idempotency-key-reused"
	IdempotencyInFlight Reason = "idempotency-key-in-flight"
	UpstreamFailed      Reason = "upstream-failed"
	EgressRefused       Reason = "egress-refused"
	ServiceUnavailable  Reason = "unavailable"
	DeadlineExceeded    Reason = "deadline-exceeded"
	CallerCanceled      Reason = "canceled"
	NotImplemented      Reason = "not-implemented"
	InternalError       Reason = "internal"
)

// Entry is one row of the error table.
type Entry struct {
	Reason Reason
	Kind   Kind
	// Title is a short sentence that never changes for the reason.
	Title string
	// Advice says what the caller can do about it; shown at /errors/<reason>.
	Advice string
}

// table lists every reason once, in the order of decisions, Errors.
var table = []Entry{
	{
		AuthMissing, Unauthenticated, "No API key was sent",
		"Send the header Authorization: Bearer <API key>. `parlance keys create` makes a key.",
	},
	{AuthInvalidKey, Unauthenticated, "The API key is not valid", "Check that the key is complete, has not expired and has not been revoked."},
	{
		AuthScope, Forbidden, "The API key lacks the scope",
		"Use a key whose scope contains the one named in the detail: read < runtime < operator < admin.",
	},
	{
		ResourceNotFound, NotFound, "No such resource",
		"Check the id, and that it belongs to the workspace in the path and to the tenant of the key.",
	},
	{RouteNotFound, NoRoute, "No such route", "Check the path against /openapi.json; REST paths begin with /v1."},
	{MethodNotAllowedReason, MethodNotAllowed, "The route does not take this method", "Use one of the methods in the Allow header."},
	{InvalidRequest, Invalid, "The request is not valid", "Correct the fields listed in errors[]; nothing was stored."},
	{BodyTooLarge, TooLarge, "The body is too large", "Send less, or upload it as a file source."},
	{
		UnsupportedEncoding, UnsupportedMedia, "The request's media type is not understood",
		"Send application/json; uploads are multipart/form-data.",
	},
	{NameTaken, AlreadyExists, "The name is taken", "Choose another name."},
	{Conflict, Aborted, "The request collided with another one", "Send it again."},
	{
		VersionMismatch, Outdated, "The resource has another version than If-Match names",
		"Read the resource, make the change to what it is now, and send its new ETag.",
	},
	{
		APIKeyOverlap, Precondition, "Two secrets of the API key work already",
		"Wait until old_secret_expires_at, or rotate with overlap_seconds 0, which ends both at once.",
	},
	{
		PersonIsLastOwner, Precondition, "The tenant would have no owner any more",
		"Give somebody else the role owner first, or make the change with an API key.",
	},
	{
		WorkspacesFull, Precondition, "The tenant has as many workspaces as it may have",
		"Delete workspaces that are not needed, or raise PARLANCE_WORKSPACES_PER_TENANT.",
	},
	{
		KeysFull, Precondition, "The tenant has as many API keys as it may have",
		"Delete keys that are not needed, or raise PARLANCE_API_KEYS_PER_TENANT.",
	},
	{ToolNameReserved, AlreadyExists, "The tool name is reserved", "Names of built-in and system tools cannot be used; choose another slug."},
	{ToolSlugTaken, AlreadyExists, "A tool with this slug exists in the workspace", "Choose another slug, or PATCH the existing tool."},
	{ToolArgumentsInvalid, Invalid, "The arguments do not match the tool's input_schema", "Correct the arguments listed in errors[]."},
	{
		ToolVariableMissing, Precondition, "A placeholder has no value",
		"Pass the variable in dynamic_variables when the session is created, or in run.",
	},
	{PlanToolsNotEnabled, Forbidden, "The plan has no custom tools", "Move the tenant to a plan with tools."},
	{PlanMCPNotEnabled, Forbidden, "The plan has no MCP tools", "Move the tenant to a plan with MCP, or use an http tool."},
	{
		PlanModelNotEnabled, Forbidden, "The plan does not have the model",
		"Choose a model that the detail names, or move the tenant to a plan that has it.",
	},
	{SystemToolAlwaysOn, Invalid, "System tools are always on", "Take the system tool off the request; it cannot be disabled."},
	{AgentDraftNotFound, NotFound, "The agent has no draft", "Save a draft first, or use the agent as it is published."},
	{
		AgentDraftChanged, Precondition, "The draft was changed meanwhile",
		"Read the draft, make the change to what it is now, and send its revision.",
	},
	{
		AgentDraftStale, Precondition, "The agent was changed since the draft was begun",
		"Compare the draft with the agent, then publish it with overwrite, or discard it.",
	},
	{
		MemoryFull, Precondition, "The user's memory is full",
		"Delete memories of the user that are no longer needed, or raise PARLANCE_MEMORY_PER_USER.",
	},
	{QuotaKBStorage, QuotaExceeded, "The plan's knowledge-base storage is used up", "Delete sources or move to a larger plan."},
	{QuotaKBUploadSize, QuotaExceeded, "The upload is larger than the plan allows", "Split the file or move to a larger plan."},
	{
		KBUnsupportedMediaType, UnsupportedMedia, "The file type is not supported",
		"Upload PDF, Markdown, plain text, HTML, JSON, DOCX, EPUB, PNG, JPEG or WEBP, with content that matches its declared type.",
	},
	{KBSourceNotReady, Precondition, "The source is not ready", "Poll the source until its status is ready, then attach it."},
	{
		KBNothingToRestore, Precondition, "The source has no content before",
		"Only a source whose content was replaced has one, and only the one before the last replacement is kept.",
	},
	{
		KBURLTaken, AlreadyExists, "The workspace has a source of this URL",
		"Refresh that source, or delete it first.",
	},
	{KBNoURL, Precondition, "The source has no URL", "Replace its content by PUT, or make a source of the URL."},
	{
		FatigueWindowUsedUp, RateLimited, "The user needs a break",
		"Begin a session after the time in Retry-After, or raise the agent's fatigue window.",
	},
	{QuotaSessions, QuotaExceeded, "The plan's session limit is reached", "End sessions that are not needed, or move to a larger plan."},
	{
		QuotaUsage, QuotaExceeded, "A monthly quota of the plan is used up",
		"Move to the plan that the detail names, or wait until the month is over.",
	},
	{
		QuotaBudget, QuotaExceeded, "A budget of the agent is used up",
		"Raise the agent's budget, or begin a session when the day or the month is over.",
	},
	{UsageAlertsFull, Precondition, "The tenant has as many usage alerts as it may have", "Delete alerts that are not needed."},
	{WebhookURLNotHTTPS, Invalid, "The webhook URL is not https", "Use an https URL; for a program on your own machine use parlance listen."},
	{
		WebhookURLNotPublic, Invalid, "The webhook URL does not name a public host",
		"Use a host that resolves to public addresses only; for a program on your own machine use parlance listen.",
	},
	{WebhookURLUnresolvable, Invalid, "The webhook URL's host does not resolve", "Check the host name."},
	{WebhookEventUnknown, Invalid, "The event name is unknown", "Use the names listed in the detail."},
	{
		WebhookEndpointsFull, Precondition, "The workspace has as many webhook endpoints as it may have",
		"Delete endpoints that are not needed, or read the feed of events.",
	},
	{
		EventsCursorExpired, Precondition, "Events after the cursor are no longer kept",
		"Read from the oldest that is kept: leave the cursor out.",
	},
	{OverrideNotAllowed, Invalid, "The override is not allowed", "Take the key off the request, or off the agent's locked_overrides."},
	{
		SessionTokenInvalid, Unauthenticated, "The session token is not valid",
		"Create a session and use the URL from its answer before expires_at.",
	},
	{SessionClosed, Precondition, "The session is closed", "Create a new session."},
	{
		SessionTakenOver, Precondition, "A person has the conversation",
		"Wait until they have released it, or ask them to: the detail says who has it.",
	},
	{SessionNotTakenOver, Precondition, "Nobody has taken the conversation over", "Take it over, then write."},
	{ApprovalDecided, Precondition, "The call was decided on already", "Nothing: the detail says what was decided."},
	{
		CallbackNotAllowed, Precondition, "The call is not allowed at that time, or to that number or user",
		"Choose another time: the detail says from when on it is allowed. Operators may set ignore_limits for quiet hours and intervals.",
	},
	{CallbackNotScheduled, Precondition, "The callback is not scheduled any more", "Create another one."},
	{CallbackBatchOver, Precondition, "The batch is over", "Create another one."},
	{CallNotInProgress, Precondition, "The call is not in progress", "Nothing: the detail says how it ended."},
	{
		SessionModality, Forbidden, "The session does not have this modality",
		"Create the session with modality voice or voice+text, or use chat_url.",
	},
	{
		OriginNotAllowed, Forbidden, "The page may not talk to the agent",
		"Add the page's origin to widget.allowed_origins of the agent and begin a new session, or remove the list.",
	},
	{
		ProviderNotConfigured, Precondition, "The outside party that this needs is not configured",
		"Set what the detail names; the request then works as it is.",
	},
	{
		BillingCustomerMissing, Precondition, "The tenant is no customer of the payment provider yet",
		"Subscribe by a checkout first, or set stripe_customer_id of the tenant.",
	},
	{
		SignatureInvalid, Invalid, "The signature of the request is not valid",
		"Sign the body as it is sent, with the secret that is configured here, and send it within five minutes.",
	},
	{RateLimitedReason, RateLimited, "Too many requests", "Wait for the time in Retry-After."},
	{IdempotencyReused, AlreadyExists, "The Idempotency-Key was used with another request", "Use a new key for a new request."},
	{IdempotencyInFlight, Aborted, "The first request with this Idempotency-Key is still running", "Repeat it in a moment."},
	{
		STTNotConfigured, Precondition, "No transcriber is configured",
		"Type instead of speaking, or set PARLANCE_STT_BASE_URL or another transcriber of docs/models.md.",
	},
	{UpstreamFailed, Upstream, "An outside party failed", "Try again; the detail names the party."},
	{
		EgressRefused, Invalid, "The address may not be asked",
		"Use a public address. The operator can open private ones with PARLANCE_EGRESS_ALLOW_CIDRS.",
	},
	{ServiceUnavailable, Unavailable, "The service is not available right now", "Try again after the time in Retry-After."},
	{DeadlineExceeded, Timeout, "The request took too long", "Try again with a longer deadline."},
	{CallerCanceled, Canceled, "The caller went away", "Nothing: the request was cancelled by its caller."},
	{NotImplemented, Unimplemented, "This is not built yet", "See the README for what is there; the contract lists what will come."},
	{InternalError, Internal, "Internal error", "Try again; if it persists, report the request_id."},
}

// Table returns every reason with its kind, title and advice, in documentation order.
func Table() []Entry { return slices.Clone(table) }

// Lookup returns the row of a reason, and whether there is one.
func Lookup(r Reason) (Entry, bool) {
	i := slices.IndexFunc(table, func(e Entry) bool { return e.Reason == r })
	if i < 0 {
		return Entry{}, false
	}
	return table[i], true
}

// entry is Lookup for reasons of our own, which are always in the table (a test holds that).
func (r Reason) entry() Entry {
	if e, ok := Lookup(r); ok {
		return e
	}
	e, _ := Lookup(InternalError)
	return e
}

// Kind is the kind the table gives the reason.
func (r Reason) Kind() Kind { return r.entry().Kind }

// Title is the reason's short sentence.
func (r Reason) Title() string { return r.entry().Title }
