package telemetry

// The keys of log records and span attributes. One thing has one key everywhere, so that an
// id found in one line finds all the others. Values that are secrets, headers, transcript
// text or phone numbers have no key on purpose.
const (
	KeyError       = "error"
	KeyReason      = "reason"
	KeyKind        = "kind"
	KeyRequestID   = "request_id"
	KeyTraceID     = "trace_id"
	KeySpanID      = "span_id"
	KeyTenantID    = "tenant_id"
	KeyWorkspaceID = "workspace_id"
	KeyAPIKeyID    = "api_key_id"
	KeySourceID    = "source_id"
	KeySessionID   = "session_id"
	KeyTurnID      = "turn_id"
	KeyEventID     = "event_id"
	KeyEndpointID  = "endpoint_id"
	KeyDeliveryID  = "delivery_id"
	KeyTaskID      = "task_id"
	KeyTaskType    = "task_type"
	KeyQueue       = "queue"
	KeyAttempt     = "attempt"
	KeyProcedure   = "procedure"
	KeyMethod      = "method"
	KeyRoute       = "route"
	KeyClient      = "client_address"
	KeyStatus      = "status"
	KeyProvider    = "provider"
	KeyModel       = "model"
	KeyDurationMS  = "duration_ms"
	KeySizeBytes   = "size_bytes"
	KeyCount       = "count"
	KeyStack       = "stack"
	KeyResult      = "result"
)
