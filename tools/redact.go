package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// redactedWord stands where a secret was. It survives escaping in a URL.
const redactedWord = "REDACTED"

const (
	// minEncodedBytes is from where a part of base64 or hex is told from chance.
	minEncodedBytes = 8
	// minPartialBytes is how much of a secret's beginning tells something at the end of a cut answer.
	minPartialBytes = 3
	// maxCuts bounds how often a text is gone over: once for each depth, and again for what a cut joins.
	maxCuts = 2 * maxUnescaped
)

// redactor takes the secrets of one call out of everything that comes from outside: an
// endpoint may echo what it was sent. The request's own view is made without secrets instead.
//
// It finds a secret as it is, in base64 (also within something longer) and hexadecimal, and spelled in
// the escapes of URLs, JSON and markup in any mixture, also broken by line ends. It does not find one
// that an endpoint has changed: reversed, hashed, in parts.
type redactor struct {
	replacer *strings.Replacer // nil: there are no secrets
	forms    []string          // longest first
	// plain is what is looked for in unescaped text.
	plain []string
}

// newRedactor knows each secret as it is and as URLs, JSON and basic authentication spell it.
func newRedactor(secrets []string) redactor {
	var r redactor
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted, _ := json.Marshal(secret) // strings always marshal
		plain := jsonUnescapedHTML(secret)
		r.forms = append(r.forms, secret, url.QueryEscape(secret), url.PathEscape(secret),
			strings.Trim(string(quoted), `"`), plain, strings.ReplaceAll(plain, "/", `\/`))
		encoded := encodedForms(secret)
		r.forms = append(r.forms, encoded...)
		// As unescape leaves them.
		for _, plain := range append(encoded, secret, lineEnds.Replace(secret)) {
			if !strings.Contains(redactedWord, plain) { // or it would be found for ever
				r.plain = append(r.plain, plain)
			}
		}
	}
	if len(r.forms) == 0 {
		return redactor{}
	}
	// At one place the first match wins: a secret that holds another must come first.
	slices.SortFunc(r.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.forms = slices.Compact(r.forms)
	pairs := make([]string, 0, 2*len(r.forms))
	for _, form := range r.forms {
		pairs = append(pairs, form, redactedWord)
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// encodedForms are a secret in base64 and hexadecimal. Within something longer its base64 depends on
// how many bytes stand before it: the characters that are its own are the same for every third.
func encodedForms(secret string) []string {
	forms := []string{base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret))}
	if len(secret) < minEncodedBytes/2 {
		return forms
	}
	lower := hex.EncodeToString([]byte(secret))
	forms = append(forms, lower, strings.ToUpper(lower))
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		own := text[(before*8+5)/6 : (before+len(secret))*8/6]
		if len(own) >= minEncodedBytes {
			forms = append(forms, own, strings.NewReplacer("+", "-", "/", "_").Replace(own))
		}
	}
	return forms
}

func jsonUnescapedHTML(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a buffer takes everything, and strings always encode
	return strings.Trim(strings.TrimSpace(out.String()), `"`)
}

// text is s without secrets, and without what Postgres cannot keep in a text.
func (r redactor) text(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if r.replacer == nil {
		return s
	}
	return r.unescaped(r.replacer.Replace(s))
}

// unescaped takes out secrets that show only when escapes are read, and those within.
func (r redactor) unescaped(s string) string {
	view, cuts := s, 0
	for depth := 1; depth <= maxUnescaped && cuts < maxCuts; depth++ {
		plain, _ := unescape(view, nil)
		if plain == view {
			return s
		}
		view = plain
		if !slices.ContainsFunc(r.plain, func(secret string) bool { return strings.Contains(view, secret) }) {
			continue
		}
		// It is rare that there is one, so only then it is looked for where it stood.
		s = cutOut(s, r.spans(s, depth))
		view, depth, cuts = s, 0, cuts+1
	}
	return s
}

// span is where something stands in a text.
type span struct{ from, to int }

// spans are the places of s that hold a secret once it has been unescaped depth times.
func (r redactor) spans(s string, depth int) []span {
	view, at := s, []int(nil)
	for range depth {
		view, at = unescape(view, positions(len(view), at))
	}
	var found []span
	for _, secret := range r.plain {
		for from := 0; ; {
			i := strings.Index(view[from:], secret)
			if i < 0 {
				break
			}
			found = append(found, span{at[from+i], at[from+i+len(secret)]})
			from += i + len(secret)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	return found
}

// cutOut puts redactedWord into the places, which are in order and may overlap.
func cutOut(s string, places []span) string {
	var out strings.Builder
	done := 0
	for _, place := range places {
		if place.from >= done {
			out.WriteString(s[done:place.from])
			out.WriteString(redactedWord)
		}
		done = max(done, place.to)
	}
	out.WriteString(s[done:])
	return out.String()
}

// partial is a body that was cut or broke off without the beginning of a secret that this left at its end.
func (r redactor) partial(body []byte) []byte {
	keep := len(body)
	for _, form := range r.forms {
		for n := min(len(form)-1, len(body)); n >= minPartialBytes && len(body)-n < keep; n-- {
			if string(body[len(body)-n:]) == form[:n] {
				keep = len(body) - n
				break
			}
		}
	}
	return body[:keep]
}

// value is text over all strings of a JSON value, names of members and numbers included; changed says
// whether there was anything to take out.
func (r redactor) value(value any) (clean any, changed bool) {
	switch value := value.(type) {
	case string:
		out := r.text(value)
		return out, out != value
	case json.Number:
		if out := r.text(value.String()); out != value.String() {
			return out, true
		}
		return value, false
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			cleaned, c := r.value(item)
			out[i], changed = cleaned, changed || c
		}
		return out, changed
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			cleaned, c := r.value(member)
			out[r.text(name)] = cleaned
			changed = changed || c || r.text(name) != name
		}
		return out, changed
	}
	return value, false
}

// values is text over the values of a map.
func (r redactor) values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[name] = r.text(value)
	}
	return out
}
