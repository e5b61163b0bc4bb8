package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// redactedWord stands where a secret was. It survives escaping in a URL.
const redactedWord = "REDACTED"

// redactor takes the secrets of one call out of everything that comes from outside: an
// endpoint may echo what it was sent. The request's own view is made without secrets instead.
type redactor struct{ replacer *strings.Replacer }

// newRedactor knows each secret as it is and as URLs, JSON and basic authentication spell it.
func newRedactor(secrets []string) redactor {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted, _ := json.Marshal(secret) // strings always marshal
		plain := jsonUnescapedHTML(secret)
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret),
			strings.Trim(string(quoted), `"`), plain, strings.ReplaceAll(plain, "/", `\/`),
			base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	// At one place the first match wins: a secret that holds another must come first.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, redactedWord)
	}
	if len(pairs) == 0 {
		return redactor{}
	}
	return redactor{strings.NewReplacer(pairs...)}
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
	return r.replacer.Replace(s)
}

// value is text over all strings of a JSON value, names of members included; changed says
// whether there was anything to take out.
func (r redactor) value(value any) (clean any, changed bool) {
	switch value := value.(type) {
	case string:
		out := r.text(value)
		return out, out != value
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
