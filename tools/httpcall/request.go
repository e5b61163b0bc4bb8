package httpcall

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/template"
)

// maxRenderedURLBytes is what common servers accept.
const maxRenderedURLBytes = 16 << 10

const userAgent = "Parlance-Tools/1"

// Methods are the methods that a tool can have.
var Methods = []string{"GET", "POST", "PATCH", "PUT", "DELETE"}

// HasBody says whether arguments go into a JSON body rather than the query.
func HasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// Idempotent says whether a call can be repeated without harm.
func Idempotent(method string) bool {
	return method == "GET" || method == "PUT" || method == "DELETE"
}

// Endpoint is where a tool is called and what the operator sends with each call.
type Endpoint struct {
	Method string
	// URL is a template with {argument} and {{variable}} placeholders in its path and query.
	URL         string
	PathParams  []string
	QueryParams []string
	// HardcodedQuery and HardcodedBody (a JSON object) replace arguments of the same name.
	HardcodedQuery map[string]string
	HardcodedBody  json.RawMessage
	Headers        map[string]string
}

// Values are what the placeholders of a request are filled with. A request is rendered twice: once
// with the secrets, to be sent, and once without, to be shown.
type Values struct {
	// Operator are the variables for the templates of the operator. nil leaves placeholders as text.
	Operator template.Lookup
	// Model are the variables for the arguments of the model. nil leaves placeholders as text.
	Model template.Lookup
	// SecretHeaders are templates of more headers. None of them is in Endpoint.Headers.
	SecretHeaders map[string]string
}

// Request is one rendered request.
type Request struct {
	Method  string
	URL     string
	Headers map[string]string
	Body    []byte // nil when the method has none
}

// Render makes the request of a call from checked arguments. Source: decisions, Tools.
func Render(e Endpoint, arguments map[string]any, v Values) (Request, *failure.Error) {
	if v.Model != nil {
		rendered, problem := template.Object(arguments, v.Model)
		if problem != nil {
			return Request{}, problem
		}
		arguments = rendered
	}
	out := Request{Method: e.Method}
	var problem *failure.Error
	if out.URL, problem = renderURL(e, arguments, v); problem != nil {
		return Request{}, problem
	}
	if out.Headers, problem = renderHeaders(e, v); problem != nil {
		return Request{}, problem
	}
	if !HasBody(e.Method) {
		return out, nil
	}
	out.Body, problem = renderBody(e, arguments, v)
	return out, problem
}

func renderURL(e Endpoint, arguments map[string]any, v Values) (string, *failure.Error) {
	scalar := func(name string) (string, bool) { return scalarText(arguments[name]) }
	origin, pathTemplate, queryTemplate := template.SplitURL(e.URL)
	path, problem := template.Path(pathTemplate, v.Operator, scalar)
	if problem != nil {
		return "", problem
	}
	query, problem := template.Query(queryTemplate, v.Operator, scalar)
	if problem != nil {
		return "", problem
	}
	more, problem := queryValues(e, arguments, v)
	if problem != nil {
		return "", problem
	}
	parts := slices.DeleteFunc([]string{query, more.Encode()}, func(s string) bool { return s == "" })
	target := origin + path
	if len(parts) > 0 {
		target += "?" + strings.Join(parts, "&")
	}
	if len(target) > maxRenderedURLBytes {
		return "", failure.New(failure.RequestInvalid, "The tool's URL would have more than %d bytes with these arguments. "+
			"Shorten them and call the tool again.", maxRenderedURLBytes)
	}
	return target, nil
}

// queryValues are the arguments that go into the query string, replaced by those of the operator.
func queryValues(e Endpoint, arguments map[string]any, v Values) (url.Values, *failure.Error) {
	values := url.Values{}
	for name, value := range arguments {
		if slices.Contains(e.PathParams, name) || HasBody(e.Method) && !slices.Contains(e.QueryParams, name) {
			continue
		}
		values[name] = queryTexts(value)
	}
	for name, value := range e.HardcodedQuery {
		text, problem := template.Text(value, v.Operator)
		if problem != nil {
			return nil, problem
		}
		values.Set(name, text)
	}
	return values, nil
}

// queryTexts converts an argument for a query string: a list of scalars repeats the name, null is
// left out, an object becomes JSON.
func queryTexts(value any) []string {
	if text, ok := scalarText(value); ok {
		return []string{text}
	}
	list, ok := value.([]any)
	if !ok {
		if value == nil {
			return nil
		}
		return []string{jsonvalue.Compact(value)}
	}
	texts := make([]string, 0, len(list))
	for _, item := range list {
		text, ok := scalarText(item)
		if !ok {
			text = jsonvalue.Compact(item)
		}
		texts = append(texts, text)
	}
	return texts
}

// scalarText is the text of a string, a boolean, or a number as it was written.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return fmt.Sprint(value), true
	}
	return "", false
}

func renderHeaders(e Endpoint, v Values) (map[string]string, *failure.Error) {
	headers := map[string]string{"Accept": "application/json, text/*;q=0.9, */*;q=0.1", "User-Agent": userAgent}
	if HasBody(e.Method) {
		headers["Content-Type"] = "application/json"
	}
	for _, own := range []map[string]string{e.Headers, v.SecretHeaders} {
		for name, text := range own {
			value, problem := template.Header(name, text, v.Operator)
			if problem != nil {
				return nil, problem
			}
			maps.DeleteFunc(headers, func(known, _ string) bool { return strings.EqualFold(known, name) })
			headers[name] = value
		}
	}
	return headers, nil
}

// renderBody makes the body of the arguments that are not in the path or the query, and merges the
// hardcoded members over them.
func renderBody(e Endpoint, arguments map[string]any, v Values) ([]byte, *failure.Error) {
	body := map[string]any{}
	for name, value := range arguments {
		if !slices.Contains(e.PathParams, name) && !slices.Contains(e.QueryParams, name) {
			body[name] = value
		}
	}
	if len(e.HardcodedBody) > 0 {
		hardcoded, ok := jsonvalue.Decode(e.HardcodedBody).(map[string]any)
		if !ok {
			return nil, failure.New(failure.Internal,
				"The tool's stored body is damaged. Tell the user that this is not possible right now.")
		}
		rendered, problem := template.Object(hardcoded, v.Operator)
		if problem != nil {
			return nil, problem
		}
		body = merge(body, rendered)
	}
	return []byte(jsonvalue.Compact(body)), nil
}

// merge replaces members of base by those of over. Objects are merged, everything else is replaced.
func merge(base, over map[string]any) map[string]any {
	for name, value := range over {
		below, isObject := base[name].(map[string]any)
		above, wantsObject := value.(map[string]any)
		if isObject && wantsObject {
			base[name] = merge(maps.Clone(below), above)
			continue
		}
		base[name] = value
	}
	return base
}
