package route

import "google.golang.org/protobuf/proto"

// LastEventField is the field of a request that names the last event that its caller has read.
const LastEventField = "last_event_id"

// CanResume reports whether a request is of a method whose streams can be continued.
func CanResume(request proto.Message) bool {
	return request.ProtoReflect().Descriptor().Fields().ByName(LastEventField) != nil
}

// Resumes reports whether a request continues a stream that its caller has begun to read.
func Resumes(request proto.Message) bool {
	field := request.ProtoReflect().Descriptor().Fields().ByName(LastEventField)
	return field != nil && request.ProtoReflect().Has(field)
}
