package parlance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// released is a client by the contract of a version that was released, made of its descriptors.
type released struct {
	*protoregistry.Files
	env *harness.Env
	// mediaType is the encoding: application/proto or application/json.
	mediaType string
}

// newestReleased reads the contract of the newest version in proto/released.
func newestReleased(t *testing.T) *protoregistry.Files {
	t.Helper()
	paths, err := filepath.Glob("../../proto/released/*.binpb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no released contract: %v", err)
	}
	encoded, err := os.ReadFile(slices.MaxFunc(paths, compareVersions))
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(encoded, &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compareVersions compares names such as 0.10.0.binpb: the longer number is the larger one.
func compareVersions(a, b string) int {
	left, right := strings.Split(filepath.Base(a), "."), strings.Split(filepath.Base(b), ".")
	return slices.CompareFunc(left, right, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

// call calls a method, as in "AgentService.GetAgent", with a request in JSON. It returns the answer
// in JSON by the old contract, and fails when the answer has something that the old contract names
// and its client cannot read.
func (r released) call(t *testing.T, name, request string) map[string]any {
	t.Helper()
	service, method, _ := strings.Cut(name, ".")
	found, err := r.FindDescriptorByName(protoreflect.FullName("parlance.v1." + service + "." + method))
	if err != nil {
		t.Fatal(err)
	}
	rpc := found.(protoreflect.MethodDescriptor)
	question, answer := dynamicpb.NewMessage(rpc.Input()), dynamicpb.NewMessage(rpc.Output())
	body := r.post(t, "/parlance.v1."+service+"/"+method, r.encode(t, question, request))
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	today := todays(t, rpc.Output().FullName())
	if r.mediaType == "application/json" {
		err = errors.Join(lenient.Unmarshal(body, answer), lenient.Unmarshal(body, today))
	} else {
		err = errors.Join(proto.Unmarshal(body, answer), proto.Unmarshal(body, today))
	}
	if err != nil {
		t.Fatalf("%s answers what the old contract cannot read: %v", name, err)
	}
	lost(t, name, answer)
	old, new := toMap(t, answer), toMap(t, today)
	missing(t, name, old, new, rpc.Output())
	return old
}

func (r released) encode(t *testing.T, question proto.Message, request string) []byte {
	t.Helper()
	if err := protojson.Unmarshal([]byte(request), question); err != nil {
		t.Fatal(err)
	}
	if r.mediaType == "application/json" {
		return []byte(request)
	}
	encoded, err := proto.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// post is a call of the Connect protocol.
func (r released) post(t *testing.T, path string, content []byte) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.env.URL+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", r.mediaType)
	request.Header.Set("Authorization", "Bearer "+r.env.Tenant.Admin)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %s %v", path, answer.Status, body, err)
	}
	return body
}

// todays is an empty message of today's contract.
func todays(t *testing.T, name protoreflect.FullName) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		t.Fatalf("today's contract has no %s: %v", name, err)
	}
	return kind.New().Interface()
}

// lost fails for a field that the contract names and that came in a form it cannot read.
func lost(t *testing.T, where string, message proto.Message) {
	t.Helper()
	unknown := message.ProtoReflect().GetUnknown()
	for len(unknown) > 0 {
		number, _, n := protowire.ConsumeField(unknown)
		if n < 0 {
			t.Fatalf("%s: %v", where, protowire.ParseError(n))
		}
		if field := message.ProtoReflect().Descriptor().Fields().ByNumber(number); field != nil {
			t.Errorf("%s: %s came in another form", where, field.FullName())
		}
		unknown = unknown[n:]
	}
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				lost(t, where, value.List().Get(i).Message().Interface())
			}
		default:
			lost(t, where, value.Message().Interface())
		}
		return true
	})
}

// missing fails for a member that today's client reads, the old contract names, and its client
// reads otherwise.
func missing(t *testing.T, where string, old, today map[string]any, named protoreflect.MessageDescriptor) {
	t.Helper()
	for name, value := range today {
		field := named.Fields().ByTextName(name)
		if field == nil || field.IsMap() {
			continue // it is new
		}
		inner, isMessage := value.(map[string]any)
		oldInner, wasMessage := old[name].(map[string]any)
		switch {
		case isMessage && wasMessage && field.Message() != nil && field.Message().FullName() != "google.protobuf.Struct":
			missing(t, where, oldInner, inner, field.Message())
		case field.Message() == nil && !reflect.DeepEqual(value, old[name]), old[name] == nil && value != nil:
			t.Errorf("%s: %s is %v, and %v by the old contract", where, field.FullName(), value, old[name])
		}
	}
}

func toMap(t *testing.T, message proto.Message) (members map[string]any) {
	t.Helper()
	encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err == nil {
		err = json.Unmarshal(encoded, &members)
	}
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// TestReleasedContract makes an agent, has a conversation with it and reads it back, by the
// contract of the version before, in both encodings.
func TestReleasedContract(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"At nine."}}, openaichat.Reply{Text: []string{"At nine."}})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	files := newestReleased(t)
	for _, mediaType := range []string{"application/proto", "application/json"} {
		t.Run(filepath.Base(mediaType), func(t *testing.T) {
			r := released{Files: files, env: env, mediaType: mediaType}
			in := `"workspace_id": "` + env.Tenant.WorkspaceID + `"`
			sent := `"name": "Ada", "instructions": "Be brief.", "language": "de", "first_message": "Hallo.", "client_overrides": ["language"]`
			agent := r.call(t, "AgentService.CreateAgent", `{`+in+`, `+sent+`}`)
			again := r.call(t, "AgentService.GetAgent", `{`+in+`, "agent_id": "`+agent["id"].(string)+`"}`)
			if !reflect.DeepEqual(agent, again) {
				t.Errorf("made %v, read %v", agent, again)
			}
			var wants map[string]any
			if err := json.Unmarshal([]byte(`{`+sent+`}`), &wants); err != nil {
				t.Fatal(err)
			}
			for name, want := range wants {
				if !reflect.DeepEqual(again[name], want) {
					t.Errorf("%s is %v, want %v", name, again[name], want)
				}
			}
			session := r.call(t, "SessionService.CreateSession",
				`{"agent_id": "`+agent["id"].(string)+`", "user_id": "u", "modality": "text", "dynamic_variables": {"name": "Ann"}}`)
			id := session["id"].(string)
			turn := r.call(t, "SessionService.CreateTurn", `{"session_id": "`+id+`", "text": "When do you open?"}`)
			if turn["text"] != "At nine." || session["token"] == nil || session["chat_url"] == nil {
				t.Errorf("the session is %v, the turn %v", session, turn)
			}
			r.call(t, "SessionService.EndSession", `{"session_id": "`+id+`", "status": "completed"}`)
			read := r.call(t, "SessionService.GetSession", `{"session_id": "`+id+`"}`)
			if read["status"] != "completed" || read["turn_count"] != 2.0 || read["user_id"] != "u" {
				t.Errorf("the session is read as %v", read)
			}
			turns := r.call(t, "SessionService.GetTranscript", `{"session_id": "`+id+`"}`)["turns"].([]any)
			if last := turns[len(turns)-1].(map[string]any); last["user_text"] != "When do you open?" || last["agent_text"] != "At nine." {
				t.Errorf("the transcript is %v", turns)
			}
		})
	}
}
