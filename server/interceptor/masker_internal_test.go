package interceptor

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/workspaces"
)

func TestMasker(t *testing.T) {
	t.Parallel()
	m := newMasker(func(id string) (string, error) { return "hash of " + id, nil })
	for name, row := range map[string]struct {
		message proto.Message
		in      string
		want    string
	}{
		"a session": {
			&parlancev1.Session{},
			`{"id":"ses_1","user_id":"ada@example.com","status":"completed","dynamic_variables":{"who":"Ada"},
			  "analysis":{"status":"done","summary":"Call ada@example.com","data":[{"id":"mail","value":"ada@example.com"}]}}`,
			`{"id":"ses_1","user_id":"hash of ada@example.com","status":"completed","dynamic_variables":{"who":"[personal]"},
			  "analysis":{"status":"done","summary":"Call [email]","data":[{"id":"mail","value":"[email]"}]}}`,
		},
		"a session in Georgia": {
			&parlancev1.Session{},
			`{"id":"ses_1","language":"ka","analysis":{"status":"done","summary":"at 555 12 34 56, order 4155550199"}}`,
			`{"id":"ses_1","language":"ka","analysis":{"status":"done","summary":"at [phone], order 4155550199"}}`,
		},
		"a source": {
			&parlancev1.Source{},
			`{"id":"src_1","name":"of ada@example.com","tags":["4155550199"],"sha256":"ab","url":"https://u:p@x.example/s3cret?k=v#f",
			  "fetch_error":"https://x.example/s3cret answered 404"}`,
			`{"id":"src_1","name":"of [email]","tags":["[phone]"],"url":"https://x.example/…","fetch_error":"https://x.example/… answered 404"}`,
		},
		"a receipt": {
			&parlancev1.TurnReceipt{},
			`{"turn_id":"turn_1","hash":"ab","model_calls":[{"model":"m","prompt_hash":"ab"}],"tool_calls":[{"slug":"pay","arguments_hash":"ab"}],
			  "passages":[{"source_id":"src_1","source_name":"ada@example.com","text_hash":"ab"}],"history":{"turns":1,"summary_hash":"ab"}}`,
			`{"turn_id":"turn_1","model_calls":[{"model":"m"}],"tool_calls":[{"slug":"pay"}],
			  "passages":[{"source_id":"src_1","source_name":"[email]"}],"history":{"turns":1}}`,
		},
		"a turn": {
			&parlancev1.Turn{},
			`{"id":"turn_1","user_text":"My card is 4111 1111 1111 1111.","agent_text":"Thanks","operator":"Ruth",
			  "items":[{"id":"item_1","text":"+49 30 901820"}],
			  "tool_calls":[{"id":"call_1","slug":"pay","input":{"iban":"DE89370400440532013000","first_name":"Ada","amount":7},
			    "input_json":"{\"iban\":\"DE89370400440532013000\",\"first_name\":\"Ada\",\"amount\":7.10}",
			    "output":"{\"customer_id\":77,\"note\":\"mail ada@example.com\",\"user_id\":\"u1\"}"}]}`,
			`{"id":"turn_1","user_text":"My card is [card].","agent_text":"Thanks","operator":"Ruth",
			  "items":[{"id":"item_1","text":"[phone]"}],
			  "tool_calls":[{"id":"call_1","slug":"pay","input":{"iban":"[personal]","first_name":"[personal]","amount":7},
			    "input_json":"{\"amount\":7.10,\"first_name\":\"[personal]\",\"iban\":\"[personal]\"}",
			    "output":"{\"customer_id\":\"[personal]\",\"note\":\"mail [email]\",\"user_id\":\"hash of u1\"}"}]}`,
		},
		"a telephone call": {
			&parlancev1.PhoneCall{},
			`{"id":"pcl_1","from":"+4930901820","to":"anonymous","user_id":"+4930901820","status":"completed","transfer":{"to":"+1","mode":"cold"}}`,
			`{"id":"pcl_1","from":"[personal]","to":"[personal]","user_id":"hash of +4930901820","status":"completed",
			  "transfer":{"to":"[personal]","mode":"cold"}}`,
		},
		"a callback": {
			&parlancev1.Callback{},
			`{"id":"cb_1","phone_number":"+1","dynamic_variables":{"a":"b"},"reason":"asked at ada@example.com"}`,
			`{"id":"cb_1","phone_number":"[personal]","reason":"asked at [email]"}`,
		},
		"a tool": {
			&parlancev1.Tool{},
			`{"id":"t","headers":{"X-Key":"secret"},"hardcoded_body_params":{"a":"b"},"hardcoded_body_params_json":"{\"a\":\"b\"}",
			  "input_schema":{"type":"object","properties":{"name":{"type":"string"}}}}`,
			`{"id":"t","input_schema":{"type":"object","properties":{"name":{"type":"string"}}}}`,
		},
		"an event": {
			&parlancev1.Event{},
			`{"event_id":"evt_1","data":{"user_id":"u","transcript":[{"message":"I am Ada"}]},"data_json":"{\"a\":\"Ada\"}",
			  "fatigue_alert":{"user_id":"u","agent_id":"agt_1"}}`,
			`{"event_id":"evt_1","fatigue_alert":{"user_id":"hash of u","agent_id":"agt_1"}}`,
		},
		"a delivery": {
			&parlancev1.WebhookDelivery{},
			`{"id":"dlv_1","request_body":"{\"user_id\":\"u\"}","request_headers":{"a":"b"},"response_headers":{"a":"b"},"response_body":"hi Ada"}`,
			`{"id":"dlv_1","request_body":"[personal]","response_headers":{"a":"[personal]"},"response_body":"[personal]"}`,
		},
		"a created session": {
			&parlancev1.CreateSessionResponse{},
			`{"id":"ses_1","ws_url":"wss://x/?token=y","chat_url":"wss://x/?token=y","token":"y"}`,
			`{"id":"ses_1"}`,
		},
		"a data subject request": {
			&parlancev1.PrivacyRequest{},
			`{"id":"dsar_1","user_id":"u","download_url":"https://x/secret","user_hash":"h"}`,
			`{"id":"dsar_1","user_id":"hash of u","user_hash":"h"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := protojson.Unmarshal([]byte(row.in), row.message); err != nil {
				t.Fatal(err)
			}
			before := proto.Clone(row.message)
			masked, err := m.masked(row.message)
			if err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(before, row.message) {
				t.Error("the message itself was changed")
			}
			if diff := cmp.Diff(decoded(t, row.want), decoded(t, encoded(t, masked))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func encoded(t *testing.T, message proto.Message) string {
	t.Helper()
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

func TestPersonalNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"name": true, "firstName": true, "customer-name": true, "Home Address": true, "e-mail": true, "emails": true, "phone_number": true,
		"customer_id": true, "userId": true, "date_of_birth": true, "cardNumber": true, "names": true, "address_2": true,
		"id": false, "order_id": false, "order_number": false, "city": false, "status": false, "ship": false, "amount": false, "": false,
	} {
		if got := isPersonalName(name); got != want {
			t.Errorf("isPersonalName(%q) = %t", name, got)
		}
	}
}

// TestShownToAnalysts lists every field of what analysts are answered whose text they see as it
// is. Look at each new line before you write the file anew with -update: a field that can say who
// a user is, or what they said, needs the option privacy.
func TestShownToAnalysts(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, service := range contractServices() {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			policy, err := policyOf(method)
			if err != nil {
				t.Fatal(err)
			}
			if policy.admitRole(workspaces.Principal{PersonID: "per_1", Role: workspaces.RoleAnalyst, Scope: workspaces.ScopeRead}) == nil {
				collectShown(method.Output(), parlancev1.Privacy_PRIVACY_UNSPECIFIED, shown, map[protoreflect.FullName]bool{})
			}
		}
	}
	names := make([]string, 0, len(shown))
	for name := range shown {
		names = append(names, name)
	}
	slices.Sort(names)
	got := strings.Join(names, "\n") + "\n"
	const file = "testdata/shown_to_analysts.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("analysts see other fields now (-want +got): decide about each\n%s", diff)
	}
}

// collectShown adds the fields of a message, and of those in it, whose texts are shown.
func collectShown(
	message protoreflect.MessageDescriptor, outer parlancev1.Privacy, shown map[string]bool, seen map[protoreflect.FullName]bool,
) {
	if isJSON(message) || seen[message.FullName()] || strings.HasPrefix(string(message.FullName()), "google.protobuf.") {
		return
	}
	seen[message.FullName()] = true
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		privacy := shownAs(field, outer)
		value := field
		if field.IsMap() {
			value = field.MapValue()
		}
		isText := value.Kind() == protoreflect.StringKind || value.Kind() == protoreflect.BytesKind
		switch {
		case value.Message() != nil && privacy == parlancev1.Privacy_PRIVACY_UNSPECIFIED:
			collectShown(value.Message(), privacy, shown, seen)
		case isText && privacy == parlancev1.Privacy_PRIVACY_UNSPECIFIED && field.Name() != userIDField && !holdsJSON(field):
			shown[string(message.Name())+"."+string(field.Name())] = true
		}
	}
}
