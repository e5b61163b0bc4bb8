package scenario

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// callTimeout bounds one call; a stream that should have been refused would go on for ever.
const callTimeout = 30 * time.Second

// reflected asks the running service which methods it has, as grpcurl would.
func reflected(t *testing.T, env *harness.Env) []protoreflect.MethodDescriptor {
	t.Helper()
	client := env.Clients(t, harness.Protocol{H2C: true}, "").HTTP
	stream := grpcreflect.NewClient(client, env.URL).NewStream(t.Context())
	defer func() { _, _ = stream.Close() }() // everything has been read
	services, err := stream.ListServices()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, service := range services {
		found, err := stream.FileContainingSymbol(service)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			files[file.GetName()] = file
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range files {
		set.File = append(set.File, file)
	}
	registry, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	var methods []protoreflect.MethodDescriptor
	for _, name := range services {
		found, err := registry.FindDescriptorByName(name)
		if err != nil {
			t.Fatal(err)
		}
		service, ok := found.(protoreflect.ServiceDescriptor)
		if !ok {
			t.Fatalf("%s is no service", name)
		}
		for i := range service.Methods().Len() {
			methods = append(methods, service.Methods().Get(i))
		}
	}
	slices.SortFunc(methods, func(a, b protoreflect.MethodDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return methods
}

// reply is the answer to a call over any protocol.
type reply struct {
	// Reason is that of the error; empty for a success.
	Reason string
	// Status is the HTTP status over REST, or the one that REST would have.
	Status int
	Body   []byte
}

// rpc is REST or one of harness.Protocols.
type rpc struct {
	name string
	harness.Protocol
}

func rpcs() []rpc {
	all := []rpc{{name: "REST"}}
	for _, p := range harness.Protocols() {
		if p.Name != "ConnectJSONOverH2C" && p.Name != "GRPCWebJSON" { // the same code twice
			all = append(all, rpc{name: p.Name, Protocol: p})
		}
	}
	return all
}

// dialer makes calls without generated code and counts them.
type dialer struct {
	*harness.Env
	methods []protoreflect.MethodDescriptor
	// test is the test whose end closes the connections, which its subtests share.
	test *testing.T

	mu      sync.Mutex
	clients map[string]*http.Client
	calls   int
	// called counts the calls of each method.
	called map[protoreflect.FullName]int
}

// count notes a call of a method.
func (d *dialer) count(method protoreflect.MethodDescriptor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	d.called[method.FullName()]++
}

// client returns the client of a protocol and key. Without sharing, thousands of connections would
// be made.
func (d *dialer) client(p rpc, key string) *http.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	made := d.clients[p.name+key]
	if made == nil {
		made = d.Clients(d.test, p.Protocol, key).HTTP
		d.clients[p.name+key] = made
	}
	return made
}

// call sends a request. It reports false if the protocol cannot call the method.
func (d *dialer) call(
	t *testing.T, p rpc, method protoreflect.MethodDescriptor, request *dynamicpb.Message, key string,
) (got reply, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	defer cancel()
	if p.name == "REST" {
		return d.overREST(ctx, t, method, request, key)
	}
	d.count(method)
	procedure := fmt.Sprintf("%s/%s/%s", d.URL, method.Parent().FullName(), method.Name())
	options := append(slices.Clone(p.Options), connect.WithSchema(method),
		connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
			*message.(*dynamicpb.Message) = *dynamicpb.NewMessage(method.Output())
			return nil
		}))
	client := connect.NewClient[dynamicpb.Message, dynamicpb.Message](d.client(p, key), procedure, options...)
	var answer *dynamicpb.Message
	var err error
	switch {
	case method.IsStreamingClient():
		answer, err = upload(ctx, client, method, request)
	case method.IsStreamingServer():
		answer, err = first(ctx, client, request)
	default:
		var response *connect.Response[dynamicpb.Message]
		if response, err = client.CallUnary(ctx, connect.NewRequest(request)); err == nil {
			answer = response.Msg
		}
	}
	return replyOf(t, answer, err), true
}

// upload sends the request as the first message of a client stream, and some bytes.
func upload(
	ctx context.Context, client *connect.Client[dynamicpb.Message, dynamicpb.Message],
	method protoreflect.MethodDescriptor, request *dynamicpb.Message,
) (*dynamicpb.Message, error) {
	stream := client.CallClientStream(ctx)
	data := dynamicpb.NewMessage(method.Input())
	data.Set(method.Input().Fields().ByName("data"), protoreflect.ValueOfBytes([]byte("Some text.")))
	for _, message := range []*dynamicpb.Message{request, data} {
		if err := stream.Send(message); err != nil {
			break // refused already: the answer says why
		}
	}
	response, err := stream.CloseAndReceive()
	if err != nil {
		return nil, err
	}
	return response.Msg, nil
}

// first returns the first message of a server stream.
func first(
	ctx context.Context, client *connect.Client[dynamicpb.Message, dynamicpb.Message], request *dynamicpb.Message,
) (*dynamicpb.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.CallServerStream(ctx, connect.NewRequest(request))
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // one message says enough
	if stream.Receive() {
		return stream.Msg(), nil
	}
	if stream.Err() == nil {
		return nil, errors.New("the stream ended without a message")
	}
	return nil, stream.Err()
}

// statuses are those that REST would have.
var statuses = map[connect.Code]int{
	connect.CodeUnauthenticated: 401, connect.CodePermissionDenied: 403, connect.CodeNotFound: 404,
	connect.CodeInvalidArgument: 400, connect.CodeInternal: 500, connect.CodeUnknown: 500,
}

func replyOf(t *testing.T, answer *dynamicpb.Message, err error) reply {
	t.Helper()
	if err == nil {
		body, err := protojson.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		return reply{Status: 200, Body: body}
	}
	wire, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return reply{Status: 500, Reason: err.Error()}
	}
	got := reply{Status: statuses[wire.Code()], Reason: wire.Error(), Body: []byte(wire.Error())}
	for _, detail := range wire.Details() {
		if value, err := detail.Value(); err == nil {
			if info, ok := value.(*errdetails.ErrorInfo); ok {
				got.Reason = info.GetReason()
			}
		}
	}
	return got
}

// overREST finds the method's route in its options and splits the request over path, query and
// body.
func (d *dialer) overREST(
	ctx context.Context, t *testing.T, method protoreflect.MethodDescriptor, request *dynamicpb.Message, key string,
) (got reply, ok bool) {
	t.Helper()
	verb, pattern, stream := d.route(method)
	if pattern == "" {
		return reply{}, false
	}
	encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok && method.IsStreamingClient() {
		fields = metadata
	}
	path := fill(t, pattern, fields)
	body, contentType := bytes.NewReader(nil), ""
	switch {
	case method.IsStreamingClient():
		content, of := form(t, part{name: "file", filename: "a.txt", mediaType: "text/plain", content: "Some text."})
		body, contentType = bytes.NewReader([]byte(content)), of
	case verb == http.MethodGet || verb == http.MethodDelete:
		query := url.Values{}
		for name, value := range fields {
			query.Set(name, fmt.Sprint(value))
		}
		path += "?" + query.Encode()
	default:
		encoded, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		body, contentType = bytes.NewReader(encoded), "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, verb, d.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	d.count(method)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if stream {
		r.Header.Set("Accept", "text/event-stream")
	}
	answer, err := d.client(rpc{name: "REST"}, key).Do(r)
	if err != nil {
		return reply{Status: 500, Reason: err.Error()}, true
	}
	// A feed never ends; its first event is enough.
	return readREST(t, answer, stream && method.Input().Fields().ByName("after") != nil), true
}

func readREST(t *testing.T, answer *http.Response, endless bool) reply {
	t.Helper()
	defer func() { _ = answer.Body.Close() }() // what matters has been read
	got := reply{Status: answer.StatusCode}
	var err error
	if endless && got.Status == http.StatusOK {
		got.Body, err = firstEvent(answer.Body)
	} else {
		got.Body, err = io.ReadAll(answer.Body)
	}
	if err != nil {
		t.Errorf("%s: %v", answer.Request.URL, err)
	}
	if got.Status >= http.StatusBadRequest {
		var problem harness.Problem
		if err := json.Unmarshal(got.Body, &problem); err != nil {
			t.Errorf("%s: no problem: %s", answer.Request.URL, got.Body)
		}
		got.Reason = problem.Code
	}
	return got
}

// firstEvent reads one Server-Sent Event.
func firstEvent(stream io.Reader) ([]byte, error) {
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		if data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); found {
			return data, nil
		}
	}
	return nil, cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
}

// route returns a method's REST route: its own, its manual one, or the one whose event stream it
// is.
func (d *dialer) route(method protoreflect.MethodDescriptor) (verb, pattern string, stream bool) {
	for _, other := range d.methods {
		if other != method && other.Parent() == method.Parent() && restOf(other).GetEventStream() == string(method.Name()) {
			verb, pattern, _ = d.route(other)
			return verb, pattern, true
		}
	}
	if manual := restOf(method).GetManual(); manual != "" {
		verb, pattern, _ = strings.Cut(manual, " ")
		return verb, pattern, false
	}
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	for verb, pattern := range map[string]string{
		http.MethodGet: rule.GetGet(), http.MethodPost: rule.GetPost(), http.MethodPut: rule.GetPut(),
		http.MethodPatch: rule.GetPatch(), http.MethodDelete: rule.GetDelete(),
	} {
		if pattern != "" {
			return verb, pattern, method.IsStreamingServer()
		}
	}
	return "", "", false
}

func restOf(method protoreflect.MethodDescriptor) *parlancev1.RestPolicy {
	policy, _ := proto.GetExtension(method.Options(), parlancev1.E_Rest).(*parlancev1.RestPolicy)
	return policy
}
