package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// maxRenderedURLBytes is what common servers still take.
const maxRenderedURLBytes = 16 << 10

const userAgent = "Parlance-Tools/1"

// wire is one rendered request.
type wire struct {
	method  string
	url     string
	headers map[string]string
	body    []byte // nil when the method has none
}

// view is with which values a request is rendered: once to be sent, once to be shown.
type view struct {
	operator      lookup // nil: placeholders are text
	model         lookup // nil: likewise
	authorization string
}

// render makes the request of an http tool from checked arguments. Source: decisions, Tools.
func render(config Config, arguments map[string]any, v view) (wire, *Error) {
	if v.model != nil {
		rendered, problem := renderObject(arguments, v.model)
		if problem != nil {
			return wire{}, problem
		}
		arguments = rendered
	}
	out := wire{method: config.Method}
	var problem *Error
	if out.url, problem = renderTarget(config, arguments, v); problem != nil {
		return wire{}, problem
	}
	if out.headers, problem = renderHeaders(config, v); problem != nil {
		return wire{}, problem
	}
	if !hasBody(config.Method) {
		return out, nil
	}
	out.body, problem = renderBody(config, arguments, v)
	return out, problem
}

func renderTarget(config Config, arguments map[string]any, v view) (string, *Error) {
	scalar := func(name string) (string, bool) { return scalarText(arguments[name]) }
	origin, pathTemplate, queryTemplate := splitURL(config.WebhookURL)
	path, problem := renderPath(pathTemplate, v.operator, scalar)
	if problem != nil {
		return "", problem
	}
	query, problem := renderQuery(queryTemplate, v.operator, scalar)
	if problem != nil {
		return "", problem
	}
	more, problem := queryValues(config, arguments, v)
	if problem != nil {
		return "", problem
	}
	parts := slices.DeleteFunc([]string{query, more.Encode()}, func(s string) bool { return s == "" })
	target := origin + path
	if len(parts) > 0 {
		target += "?" + strings.Join(parts, "&")
	}
	if len(target) > maxRenderedURLBytes {
		return "", refuse(CodeRequestInvalid, "The tool's URL would have more than %d bytes with these arguments. Shorten them and call the tool again.", maxRenderedURLBytes)
	}
	return target, nil
}

// queryValues are the arguments that go into the query string, and the operator's own over them.
func queryValues(config Config, arguments map[string]any, v view) (url.Values, *Error) {
	values := url.Values{}
	for name, value := range arguments {
		if slices.Contains(config.PathParams, name) || hasBody(config.Method) && !slices.Contains(config.QueryParams, name) {
			continue
		}
		values[name] = queryTexts(value)
	}
	for name, template := range config.HardcodedQueryParams {
		text, problem := renderText(template, v.operator)
		if problem != nil {
			return nil, problem
		}
		values.Set(name, text)
	}
	return values, nil
}

// queryTexts is an argument in a query string: a list of scalars repeats the name, null is
// left out, an object is JSON.
func queryTexts(value any) []string {
	if text, ok := scalarText(value); ok {
		return []string{text}
	}
	list, ok := value.([]any)
	if !ok {
		if value == nil {
			return nil
		}
		return []string{compactJSON(value)}
	}
	texts := make([]string, 0, len(list))
	for _, item := range list {
		text, ok := scalarText(item)
		if !ok {
			text = compactJSON(item)
		}
		texts = append(texts, text)
	}
	return texts
}

// scalarText is a string, number or boolean as text; numbers as they were written.
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

func renderHeaders(config Config, v view) (map[string]string, *Error) {
	headers := map[string]string{"Accept": "application/json, text/*;q=0.9, */*;q=0.1", "User-Agent": userAgent}
	if hasBody(config.Method) {
		headers["Content-Type"] = "application/json"
	}
	for name, template := range config.Headers {
		value, problem := renderHeader(name, template, v.operator)
		if problem != nil {
			return nil, problem
		}
		maps.DeleteFunc(headers, func(known, _ string) bool { return strings.EqualFold(known, name) })
		headers[name] = value
	}
	if v.authorization == "" {
		return headers, nil
	}
	value, problem := renderHeader("Authorization", v.authorization, v.operator)
	if problem != nil {
		return nil, problem
	}
	headers["Authorization"] = value
	return headers, nil
}

// renderBody is the arguments that are neither in path nor query, with the operator's own
// members merged over them.
func renderBody(config Config, arguments map[string]any, v view) ([]byte, *Error) {
	body := map[string]any{}
	for name, value := range arguments {
		if !slices.Contains(config.PathParams, name) && !slices.Contains(config.QueryParams, name) {
			body[name] = value
		}
	}
	if len(config.HardcodedBodyParams) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(config.HardcodedBodyParams))
		decoder.UseNumber()
		var own map[string]any
		if err := decoder.Decode(&own); err != nil {
			return nil, refuse(CodeInternal, "The tool's stored body is damaged. Tell the user that this is not possible right now.")
		}
		rendered, problem := renderObject(own, v.operator)
		if problem != nil {
			return nil, problem
		}
		body = merge(body, rendered)
	}
	return []byte(compactJSON(body)), nil
}

// merge lays over onto base; objects are merged, everything else is replaced.
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
