package rest

// What requests and answers are labelled with.
const (
	protoType         = "application/proto"
	jsonType          = "application/json"
	eventStreamType   = "text/event-stream"
	requestIDHeader   = "X-Request-Id"
	idempotencyHeader = "Idempotency-Key"
	lastEventHeader   = "Last-Event-ID"
)

// Fields of request messages that the facade fills itself.
const (
	maskField      = "update_mask"
	lastEventField = "last_event_id"
)
