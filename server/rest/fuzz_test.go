package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/route"
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

// FuzzTokens holds the walker to json.Decoder: the same tokens for every text that is JSON, but for
// half a surrogate pair, which the decoder hides.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[1, -2.5e+3, "a\"b", true, false, null, {"k" : []}]`, ` "\\" `, `"\u0041\ud83d\ude00"`,
		`{"a":{"b":["c",{}]},"":""}`, `0`, "[\"\u2028\", \"\xc3\xa9\"]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || !json.Valid(text) {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		walker := tokens{text: text}
		for {
			if got, want := walker.more(), decoder.More(); got != want {
				t.Fatalf("%q: more is %t, want %t", text, got, want)
			}
			want, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			got := walker.next()
			if broken, ok := got.(string); ok && !utf8.ValidString(broken) {
				got = strings.ReplaceAll(broken, "\xff", "\ufffd")
			}
			if got != want {
				t.Fatalf("%q: token %#v, want %#v", text, got, want)
			}
		}
	})
}

// FuzzDirect holds the two ways of a request to each other: JSON that goes on as it is becomes the
// message that decoding makes of body and path, and is refused with the same words.
func FuzzDirect(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { } `, "{\n\"id\":\"x\"}", `{"part":{"part_name":"p"},"tags":["a"]}`,
		`{"id":null}`, `{"shelf_id":"other"}`, `{"shelfId":"s"}`, `[]`, `{"no":1}`,
	} {
		f.Add([]byte(seed), "shelf")
		f.Add([]byte(seed), "a\"b\\c<>&\u2028")
	}
	f.Add([]byte(`{}`), "\xff")
	f.Fuzz(func(t *testing.T, body []byte, id string) {
		if len(body) == 0 {
			return
		}
		m := &match{route: &route.Route{Body: "*", Request: (*resttestv1.CreateThingRequest)(nil)}, names: []string{"id"}, values: []string{id}}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		sent, sentErr := prepare(httptest.NewRecorder(), request, m)
		want, wantErr := decode(request, m, body)
		if fmt.Sprint(sentErr) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: %v, want %v", body, sentErr, wantErr)
		}
		if wantErr != nil {
			return
		}
		got := &resttestv1.CreateThingRequest{}
		var codec connect.Codec = protoCodec{}
		if sent.contentType == jsonType {
			codec = jsonCodec{"json"}
		}
		if err := codec.Unmarshal(sent.payload, got); err != nil {
			t.Fatalf("%q was sent as %q: %v", body, sent.payload, err)
		}
		if !proto.Equal(got, want) && !bytes.Contains(body, []byte("any")) { // NaN is no member of JSON, and null of a Value has two forms
			t.Fatalf("%q was sent as %q: %v, want %v", body, sent.payload, got, want)
		}
	})
}

// FuzzTextIn holds the look into an answer to encoding/json.
func FuzzTextIn(f *testing.F) {
	for _, seed := range []string{
		`{"id":"x"}`, `{"a":{"id":"no"},"id":"x"}`,
		`{"a":["id","no"],"b":"id","id":"\u0041"}`, `{"id":1}`, `{}`, `{"a":{"b":[{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var members map[string]json.RawMessage
		if !utf8.Valid(body) || json.Unmarshal(body, &members) != nil || members == nil ||
			strings.Count(string(body), `"id"`) > 1 || strings.Contains(string(body), `\u`) {
			return
		}
		var want string
		if json.Unmarshal(members["id"], &want) != nil {
			want = ""
		}
		if got := textIn(body, "id"); got != want {
			t.Fatalf("%q: %q, want %q", body, got, want)
		}
	})
}
