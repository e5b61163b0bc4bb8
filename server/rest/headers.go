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

// maskField is a field of request messages that the facade fills in, as route.LastEventField is.
const maskField = "update_mask"
