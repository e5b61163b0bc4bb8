package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/server/rest/internal/resttestv1"
)

// FuzzDecode holds three things for any bytes: the checker never lets through what protojson
// refuses with anything but a decision; what is accepted is JSON, can go over the wire, and says
// the same when it is written and read again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[`, `{"id":"x","tags":["a"],"part":{"part_name":"p"},"labels":{"a":"b"}}`,
		`{"weightGrams":5e0,"price":-0,"serial":"12","raw":"AQ==","color":"COLOR_RED","made_at":"2026-01-31T12:00:00Z"}`,
		`{"extra":{"a":[{},null,1e5,"\ud83d\ude00"]},"any":[1,{"b":null}],"parts":[{"part_count":1},{}]}`,
		`{"id":"\ud800"}`, `{"a":{"b":[}`, "{\"id\":\"\xff\"}", `{"id":null,"id":"x"}`, strings.Repeat(`{"extra":`, 120),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 {
			return
		}
		message := &resttestv1.CreateThingRequest{}
		if _, err := unmarshal(body, message.ProtoReflect(), ""); err != nil {
			if _, decided := errors.AsType[*fault.Error](err); !decided {
				t.Fatalf("%q: not a decision: %v", body, err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q was accepted and is not JSON", body)
		}
		if _, err := proto.Marshal(message); err != nil {
			t.Fatalf("%q was accepted and cannot be sent on: %v", body, err)
		}
		written, err := stablejson.Marshal(message)
		if err != nil {
			t.Fatalf("%q was accepted and cannot be written: %v", body, err)
		}
		again := &resttestv1.CreateThingRequest{}
		if _, err := unmarshal(written, again.ProtoReflect(), ""); err != nil {
			t.Fatalf("%q was written as %s, which is refused: %v", body, written, err)
		}
		// Not proto.Equal: a google.protobuf.Value that is not set is written as null, which is a value.
		if survived, err := stablejson.Marshal(again); err != nil || !bytes.Equal(survived, written) {
			t.Fatalf("%q does not survive: %s, then %s (%v)", body, written, survived, err)
		}
	})
}
