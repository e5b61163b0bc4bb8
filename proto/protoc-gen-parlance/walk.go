package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// maskField holds the keys of a PATCH body; the facade fills it, callers never send it.
const maskField = "update_mask"

// endpoint is one REST route with everything the two outputs need.
type endpoint struct {
	verb, path string
	body       string
	variables  []string
	method     *protogen.Method
	events     *protogen.Method // the streaming twin of event_stream, or nil
	// The options of the method; see parlance/v1/options.proto.
	successStatus int
	location      string
	manual        string
	maxBodyBytes  int32
	policy        *parlancev1.MethodPolicy
}

var pathVariable = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)\}$`)

// walk lists the routes of a file in its order.
func walk(file *protogen.File) ([]endpoint, error) {
	var found []endpoint
	for _, service := range file.Services {
		for _, method := range service.Methods {
			of, err := endpointsOf(service, method)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", method.Desc.FullName(), err)
			}
			found = append(found, of...)
		}
	}
	return found, nil
}

func endpointsOf(service *protogen.Service, method *protogen.Method) ([]endpoint, error) {
	options := method.Desc.Options()
	rule, _ := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	rest, _ := proto.GetExtension(options, parlancev1.E_Rest).(*parlancev1.RestPolicy)
	policy, _ := proto.GetExtension(options, parlancev1.E_Policy).(*parlancev1.MethodPolicy)
	base := endpoint{
		method: method, policy: policy, location: rest.GetLocation(), maxBodyBytes: rest.GetMaxBodyBytes(),
		successStatus: cmp.Or(int(rest.GetSuccessStatus()), http.StatusOK),
	}
	var err error
	if name := rest.GetEventStream(); name != "" {
		if base.events, err = streamOf(service, method, name); err != nil {
			return nil, err
		}
	}
	var found []endpoint
	if rest.GetManual() != "" {
		manual := base
		manual.manual = rest.GetManual()
		manual.verb, manual.path, _ = strings.Cut(manual.manual, " ")
		found = append(found, manual)
	}
	if rule != nil {
		for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
			bound := base
			bound.body = binding.GetBody()
			if bound.verb, bound.path, err = verbOf(binding); err != nil {
				return nil, err
			}
			found = append(found, bound)
		}
	}
	for i := range found {
		if err := found[i].check(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// streamOf finds the server-streaming method that event_stream names.
func streamOf(service *protogen.Service, method *protogen.Method, name string) (*protogen.Method, error) {
	for _, other := range service.Methods {
		if string(other.Desc.Name()) != name {
			continue
		}
		if !other.Desc.IsStreamingServer() || other.Desc.IsStreamingClient() {
			return nil, fmt.Errorf("event_stream %s must stream from the server, and only from it", name)
		}
		return other, nil
	}
	return nil, fmt.Errorf("event_stream names no method %q", name)
}

func verbOf(rule *annotations.HttpRule) (verb, path string, err error) {
	if rule.GetResponseBody() != "" {
		return "", "", errors.New("response_body is not supported")
	}
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return http.MethodGet, pattern.Get, nil
	case *annotations.HttpRule_Put:
		return http.MethodPut, pattern.Put, nil
	case *annotations.HttpRule_Post:
		return http.MethodPost, pattern.Post, nil
	case *annotations.HttpRule_Delete:
		return http.MethodDelete, pattern.Delete, nil
	case *annotations.HttpRule_Patch:
		return http.MethodPatch, pattern.Patch, nil
	}
	return "", "", errors.New("custom verbs are not supported")
}

// check refuses what server/rest could not serve, and collects the path variables.
func (e *endpoint) check() error {
	if e.method.Desc.IsStreamingClient() && e.manual == "" {
		return errors.New("a client stream needs the option manual")
	}
	if !strings.HasPrefix(e.path, "/") {
		return fmt.Errorf("the path %q does not begin with a slash", e.path)
	}
	for segment := range strings.SplitSeq(e.path[1:], "/") {
		match := pathVariable.FindStringSubmatch(segment)
		if match == nil {
			if segment == "" || strings.ContainsAny(segment, "{}*") {
				return fmt.Errorf("the path segment %q is not supported", segment)
			}
			continue
		}
		e.variables = append(e.variables, match[1])
		if e.manual != "" {
			continue // the hand-written handler reads them from the path
		}
		if err := checkVariable(e.method.Input, match[1]); err != nil {
			return err
		}
		if e.events == nil {
			continue
		}
		if err := checkVariable(e.events.Input, match[1]); err != nil {
			return err
		}
	}
	return e.checkBody()
}

func checkVariable(message *protogen.Message, name string) error {
	field := message.Desc.Fields().ByName(protoreflect.Name(name))
	if field == nil || field.IsList() || (field.Kind() != protoreflect.StringKind && field.Kind() != protoreflect.Int32Kind) {
		return fmt.Errorf("the path variable %q is not a string or int32 field of %s", name, message.Desc.Name())
	}
	return nil
}

func (e *endpoint) checkBody() error {
	switch e.body {
	case "":
		return nil
	case "*":
		if e.verb == http.MethodGet || e.verb == http.MethodDelete {
			return fmt.Errorf("%s takes no body", e.verb)
		}
		return nil
	}
	field := e.method.Input.Desc.Fields().ByName(protoreflect.Name(e.body))
	if field == nil || field.Kind() != protoreflect.MessageKind || field.IsList() || field.IsMap() {
		return fmt.Errorf("the body %q is not a message field of %s", e.body, e.method.Input.Desc.Name())
	}
	return nil
}

// refuseTwins fails when two routes would match the same requests.
func refuseTwins(all []endpoint) error {
	anyVariable := regexp.MustCompile(`\{[^}]*\}`)
	seen := map[string]string{}
	for _, e := range all {
		key := e.verb + " " + anyVariable.ReplaceAllString(e.path, "{}")
		if other, twice := seen[key]; twice {
			return fmt.Errorf("%s and %s share the route %s", other, e.method.Desc.FullName(), key)
		}
		seen[key] = string(e.method.Desc.FullName())
	}
	return nil
}
