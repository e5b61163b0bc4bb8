package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"

	"parlance.dev/parlance/fault"
)

var (
	slug = regexp.MustCompile(`[a-z]+(?:-[a-z]+)+`)
	// sameAs finds "as CreateTool" among a method's errors.
	sameAs = regexp.MustCompile(`\bas ([A-Z]\w+)`)
)

// errorsOf lists the problems of an endpoint by status: those its comment names after
// "Errors:", and those every route of its kind has. Anything else is the default response.
func errorsOf(e endpoint) map[string]response {
	reasons := slices.Concat(commentReasons(e.method, nil), []fault.Reason{
		fault.AuthMissing, fault.AuthInvalidKey, fault.AuthScope, fault.InvalidRequest, fault.RateLimitedReason,
	})
	if e.body != "" {
		reasons = append(reasons, fault.BodyTooLarge, fault.UnsupportedEncoding)
	}
	if acceptsKey(e) {
		reasons = append(reasons, fault.IdempotencyReused, fault.IdempotencyInFlight)
	}
	if len(e.variables) > 0 {
		reasons = append(reasons, fault.ResourceNotFound)
	}
	byStatus := map[int][]string{}
	for _, entry := range fault.Table() { // its order, without duplicates
		if slices.Contains(reasons, entry.Reason) {
			byStatus[entry.Kind.Status()] = append(byStatus[entry.Kind.Status()], "`"+string(entry.Reason)+"`")
		}
	}
	out := map[string]response{"default": {Ref: "#/components/responses/Problem"}}
	for status, slugs := range byStatus {
		out[strconv.Itoa(status)] = response{
			Description: http.StatusText(status) + ": " + strings.Join(slugs, ", "),
			Content:     map[string]mediaType{problemType: {Schema: &schema{Ref: problemRef}}},
		}
	}
	return out
}

// commentReasons reads the slugs after "Errors:", following references to other methods of the
// service; seen stops cycles.
func commentReasons(method *protogen.Method, seen []string) []fault.Reason {
	_, list, _ := strings.Cut(string(method.Comments.Leading), "Errors:")
	var out []fault.Reason
	for _, word := range slug.FindAllString(list, -1) {
		if _, known := fault.Lookup(fault.Reason(word)); known {
			out = append(out, fault.Reason(word))
		}
	}
	seen = append(seen, string(method.Desc.Name()))
	for _, match := range sameAs.FindAllStringSubmatch(list, -1) {
		for _, other := range method.Parent.Methods {
			if string(other.Desc.Name()) == match[1] && !slices.Contains(seen, match[1]) {
				out = append(out, commentReasons(other, seen)...)
			}
		}
	}
	return out
}

// fixedComponents are the components that no proto describes.
func fixedComponents() components {
	text := func(description string) *schema { return &schema{Type: "string", Description: description} }
	codes := make([]string, 0, len(fault.Table()))
	for _, entry := range fault.Table() {
		codes = append(codes, string(entry.Reason))
	}
	violation := &schema{Type: "object", Required: []string{"field", "code", "message"}, Properties: ordered[*schema]{
		{"field", text("Path of the field in snake_case: events[2].")},
		{"code", text("What is wrong with it, a stable slug.")},
		{"message", text("The same as a sentence.")},
	}}
	problem := &schema{
		Type: "object", Description: "An error, after RFC 9457. Some have further members of type string.",
		Required: []string{"type", "title", "status", "detail", "code", "instance", "request_id"},
		Properties: ordered[*schema]{
			{"type", &schema{Type: "string", Format: "uri-reference", Description: "A page about the code."}},
			{"title", text("What the code means; the same each time.")},
			{"status", &schema{Type: "integer", Description: "The HTTP status."}},
			{"detail", text("What to do about it.")},
			{"code", &schema{Type: "string", Description: "What clients switch on. New ones may be added.", Examples: codes}},
			{"instance", text("The path of the request.")},
			{"request_id", text("The X-Request-Id of the answer.")},
			{"errors", &schema{Type: "array", Items: violation}},
		},
	}
	return components{
		SecuritySchemes: map[string]securityScheme{
			"api_key": {
				Type: "http", Scheme: "bearer",
				Description: "An API key. Scopes: read < runtime < operator < admin; each operation says the least it needs in x-required-scope.",
			},
			"session_token": {Type: "http", Scheme: "bearer", Description: "The token from the creation of the session in the path."},
		},
		Parameters: map[string]parameter{
			"IdempotencyKey": {
				Name: "Idempotency-Key", In: "header", Schema: &schema{
					Type: "string", MinLength: new(json.Number("1")),
					MaxLength: new(json.Number("255")), Pattern: "^[ -~]+$",
				},
				Description: "A word of your own, new for each request: the same key with the same request replays the first answer for 24 hours, " +
					"marked with Idempotency-Replayed: true. It belongs to the API key and the route.",
			},
		},
		Headers: map[string]header{
			"IdempotencyReplayed": {
				Description: "true: this is the answer that an earlier request with the same Idempotency-Key got.",
				Schema:      &schema{Type: "string"},
			},
			"RequestId": {Description: "Name this id when you ask about a request.", Schema: &schema{Type: "string"}},
		},
		Responses: map[string]response{
			"Problem": {Description: "Any other error.", Content: map[string]mediaType{problemType: {Schema: &schema{Ref: problemRef}}}},
		},
		Schemas: map[string]*schema{"Problem": problem},
	}
}
