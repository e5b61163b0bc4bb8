package template

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"parlance.dev/parlance/tools/failure"
)

// SplitURL splits a URL template into its origin, its path, and its query without the question
// mark.
func SplitURL(template string) (origin, path, query string) {
	authority := 0
	if at := strings.Index(template, "://"); at >= 0 {
		authority = at + len("://")
	}
	end := strings.IndexAny(template[authority:], "/?#")
	if end < 0 {
		return template, "", ""
	}
	origin, rest := template[:authority+end], template[authority+end:]
	path, query, _ = strings.Cut(rest, "?")
	return origin, path, query
}

// Path fills the placeholders of a path. Separators in values are escaped. A value that would make
// a segment empty or go up the path is refused.
func Path(template string, variables, arguments Lookup) (string, *failure.Error) {
	segments := strings.Split(template, "/")
	// The name of a variable has no slash, so a placeholder never spans segments.
	for i, segment := range segments {
		rendered, filled, problem := fill(segment, variables, arguments, url.PathEscape)
		if problem != nil {
			return "", problem
		}
		if filled && !staysInSegment(rendered) {
			return "", failure.New(failure.ArgumentUnsafe, "A value that belongs into the path of the tool's URL is empty or would change "+
				"the path. Give the plain identifier and call the tool again.")
		}
		segments[i] = rendered
	}
	return strings.Join(segments, "/"), nil
}

// Query fills the placeholders of the query of a URL template.
func Query(template string, variables, arguments Lookup) (string, *failure.Error) {
	rendered, _, problem := fill(template, variables, arguments, url.QueryEscape)
	return rendered, problem
}

// fill replaces placeholders by escaped values. filled says whether there were any.
func fill(template string, variables, arguments Lookup, escape func(string) string) (
	rendered string, filled bool, problem *failure.Error,
) {
	var out strings.Builder
	for _, p := range split(template) {
		switch {
		case p.variable != "" && variables != nil:
			value, ok := variables(p.variable)
			if !ok {
				return "", false, missing(p.variable)
			}
			out.WriteString(escape(value))
			filled = true
		case p.argument != "":
			value, ok := arguments(p.argument)
			if !ok {
				return "", false, failure.New(failure.ArgumentsInvalid, "The argument %q is needed for the tool's URL and must be a string, "+
					"a number or a boolean. Give it and call the tool again.", p.argument)
			}
			out.WriteString(escape(value))
			filled = true
		default:
			out.WriteString(EscapeLiteral(p.text))
		}
	}
	return out.String(), filled, nil
}

// staysInSegment says whether a filled segment is one step down the path, even if the server
// decodes escaped separators.
func staysInSegment(segment string) bool {
	plain, err := url.PathUnescape(segment)
	if err != nil || plain == "" {
		return false
	}
	steps := strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' })
	return !slices.ContainsFunc(steps, func(step string) bool { return step == "." || step == ".." })
}

// EscapeLiteral escapes characters that are not allowed in a URL. It keeps escapes that are there.
func EscapeLiteral(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}#", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
