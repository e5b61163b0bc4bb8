package events

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// ReadPayload returns the message that the data of a stored event are, also when an older version
// wrote them; nil for types that are not public. What later versions add is left out.
func ReadPayload(t Type, data json.RawMessage) (proto.Message, error) {
	payload := NewPayload(t)
	if payload == nil {
		return nil, nil //nolint:nilnil // such an event has no message
	}
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	err := lenient.Unmarshal(data, payload)
	if err != nil && t == PostCallTranscription {
		if data, err = withFeedback(data); err == nil {
			err = lenient.Unmarshal(data, payload) // empties it first
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the data of %s as its message: %w", t, err)
	}
	return payload, nil
}

// withFeedback makes objects of the feedback of answers, which was a text until 0.2.0: like,
// dislike or empty.
func withFeedback(data json.RawMessage) (json.RawMessage, error) {
	var call map[string]json.RawMessage
	var transcript []map[string]json.RawMessage
	if json.Unmarshal(data, &call) != nil || json.Unmarshal(call["transcript"], &transcript) != nil {
		return data, nil //nolint:nilerr // there is no transcript, or what is wrong with it is said elsewhere
	}
	for _, entry := range transcript {
		score := entry["feedback"]
		if !bytes.HasPrefix(score, []byte(`"`)) {
			continue
		}
		if delete(entry, "feedback"); string(score) != `""` {
			entry["feedback"] = fmt.Appendf(nil, `{"score":%s,"time_in_call_secs":%s}`, score, entry["time_in_call_secs"])
		}
	}
	var err error
	if call["transcript"], err = json.Marshal(transcript); err != nil {
		return nil, fmt.Errorf("write the feedback of a transcript: %w", err)
	}
	return json.Marshal(call)
}
