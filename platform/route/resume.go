package route

import "google.golang.org/protobuf/proto"

// LastEventField is the field of a request that names the last event that its caller has read.
const LastEventField = "last_event_id"

// Resumes reports whether a request continues a stream that its caller has begun to read.
func Resumes(request proto.Message) bool {
	field := request.ProtoReflect().Descriptor().Fields().ByName(LastEventField)
	return field != nil && request.ProtoReflect().Has(field)
}
