package scenario

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// notBuilt is the list of the RPCs that answer not-implemented, as "Service/Method". Every other
// method works: TestEveryMethod calls them all. Later issues empty it.
var notBuilt = []string{}

// TestEveryMethod calls every method of every service with the least key that may and a request
// that should succeed: it does, or it is in notBuilt and answers not-implemented.
func TestEveryMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := map[parlancev1.Scope]string{
		parlancev1.Scope_SCOPE_READ: w.owner.Read, parlancev1.Scope_SCOPE_RUNTIME: w.owner.Runtime,
		parlancev1.Scope_SCOPE_OPERATOR: w.owner.Operator, parlancev1.Scope_SCOPE_ADMIN: w.owner.Admin,
	}
	seen := map[string]bool{}
	for _, method := range methods() {
		name := fmt.Sprintf("%s/%s", method.Parent().Name(), method.Name())
		seen[name] = true
		reason, err := w.call(t, method, keys[policyOf(method).GetScope()])
		listed := slices.Contains(notBuilt, name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case reason == "not-implemented" && !listed:
			t.Errorf("%s is not built and not in the list", name)
		case reason == "" && listed:
			t.Errorf("%s is built: take it off the list", name)
		case reason != "" && reason != "not-implemented":
			t.Errorf("%s with %v: %s", name, w.request(method), reason)
		}
	}
	for _, name := range notBuilt {
		if !seen[name] {
			t.Errorf("%s is in the list and in no proto", name)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d methods were found", len(seen))
	}
}

// call calls a method over Connect JSON and returns the reason of its refusal; empty: a success.
func (w *world) call(t *testing.T, method protoreflect.MethodDescriptor, key string) (reason string, err error) {
	t.Helper()
	messages := []any{w.request(method)}
	if name := method.Name(); name == "UploadSource" || name == "ReplaceSourceContent" {
		metadata := map[string]any{"workspace_id": w.owner.WorkspaceID, "filename": "a.txt", "media_type": "text/plain"}
		if name == "ReplaceSourceContent" {
			metadata["source_id"] = w.values["source_id"]
		}
		messages = []any{
			map[string]any{"metadata": metadata},
			map[string]any{"data": []byte("Some text.")},
		}
	}
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	if !method.IsStreamingClient() && !method.IsStreamingServer() {
		got := w.Do(t, "POST", path, messages[0], harness.Key(key))
		if got.Status == http.StatusOK {
			return "", nil
		}
		return reasonOf(got.Body)
	}
	var body bytes.Buffer
	for _, message := range messages {
		encoded, err := json.Marshal(message)
		if err != nil {
			return "", err
		}
		body.WriteByte(0)
		_ = binary.Write(&body, binary.BigEndian, uint32(len(encoded)))
		body.Write(encoded)
	}
	request, err := w.NewRequest(t, "POST", path, body.Bytes(), harness.Key(key), harness.Header("Content-Type", "application/connect+json"))
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // one message says enough
	return streamReason(answer.Body)
}

// streamReason reads the first message of a stream: data is a success, an end may hold an error.
func streamReason(body io.Reader) (string, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(body, head); err != nil {
		return "", err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(body, message); err != nil {
		return "", err
	}
	if head[0]&2 == 0 {
		return "", nil
	}
	var end struct{ Error json.RawMessage }
	if err := json.Unmarshal(message, &end); err != nil || end.Error == nil {
		return "", err
	}
	return reasonOf(end.Error)
}

// reasonOf is the reason in the JSON of a Connect error.
func reasonOf(body []byte) (string, error) {
	var wire struct {
		Code    string
		Message string
		Details []struct {
			Debug struct{ Reason string }
		}
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return "", fmt.Errorf("%s: %w", body, err)
	}
	for _, detail := range wire.Details {
		if detail.Debug.Reason != "" {
			return detail.Debug.Reason, nil
		}
	}
	return "", errors.New(wire.Code + ": " + wire.Message)
}
