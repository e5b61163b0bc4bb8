package rest

// Media types and headers of requests and answers.
const (
	protoType         = "application/proto"
	jsonType          = "application/json"
	eventStreamType   = "text/event-stream"
	requestIDHeader   = "X-Request-Id"
	idempotencyHeader = "Idempotency-Key"
	lastEventHeader   = "Last-Event-ID"
)

// Fields of request messages that the facade fills in.
const (
	maskField      = "update_mask"
	lastEventField = "last_event_id"
)
