package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
)

// Placeholder replaces a secret. It needs no escaping in a URL.
const Placeholder = "REDACTED"

const (
	// minSecretBytes is the shortest secret that is looked for: a shorter one ("2", "yes") stands in
	// texts that have nothing to do with it.
	minSecretBytes = 4
	// minEncodedBytes is the shortest piece of base64 or hexadecimal that is not found by chance.
	minEncodedBytes = 8
	// minPartialBytes is the shortest beginning of a secret that is removed at the end of a cut text.
	minPartialBytes = 3
	// maxCuts bounds how often a text is searched: once per layer of escapes, and again for secrets
	// that appear when another one is cut out.
	maxCuts = 2 * maxDepth
)

// Redactor removes the secrets of one call from what an endpoint sends, which may echo its request.
//
// It finds a secret as it is, in base64 (also inside longer base64), in hexadecimal, and in the
// escapes of URLs, JSON and HTML in any mixture, also with line breaks. It does not find a secret
// that the endpoint has changed, for example reversed, hashed or split. The zero value has no
// secrets.
type Redactor struct {
	replacer *strings.Replacer // nil without secrets
	forms    []string          // longest first
	// plain are the forms to look for in unescaped text.
	plain []string
}

// New makes a Redactor of some secrets. Those shorter than 4 bytes are ignored.
func New(secrets []string) Redactor {
	var r Redactor
	for _, secret := range secrets {
		if len(secret) < minSecretBytes {
			continue
		}
		quoted, _ := json.Marshal(secret) // strings always marshal
		plain := jsonUnescapedHTML(secret)
		r.forms = append(r.forms, secret, url.QueryEscape(secret), url.PathEscape(secret),
			strings.Trim(string(quoted), `"`), plain, strings.ReplaceAll(plain, "/", `\/`))
		encoded := encodedForms(secret)
		r.forms = append(r.forms, encoded...)
		// These are searched for in unescaped text.
		for _, plain := range append(encoded, secret, lineEnds.Replace(secret)) {
			if !strings.Contains(Placeholder, plain) { // otherwise it would be found again and again
				r.plain = append(r.plain, plain)
			}
		}
	}
	if len(r.forms) == 0 {
		return Redactor{}
	}
	// The replacer takes the first match: a secret must come before those that it contains.
	slices.SortFunc(r.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.forms = slices.Compact(r.forms)
	pairs := make([]string, 0, 2*len(r.forms))
	for _, form := range r.forms {
		pairs = append(pairs, form, Placeholder)
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// encodedForms are a secret in base64 and hexadecimal. Inside longer base64 the characters of a
// secret depend on its offset modulo 3, so there is a form for each of the three.
func encodedForms(secret string) []string {
	forms := []string{base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret))}
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
	_ = encoder.Encode(text) // a string can always be encoded
	return strings.Trim(strings.TrimSpace(out.String()), `"`)
}

// Text returns s without secrets, and without U+0000 and invalid UTF-8, which Postgres refuses.
func (r Redactor) Text(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if r.replacer == nil {
		return s
	}
	return r.redactEscaped(r.replacer.Replace(s))
}

// redactEscaped removes secrets that appear only when escapes are decoded.
func (r Redactor) redactEscaped(s string) string {
	for range maxCuts {
		found := r.escapedSpans(s)
		if len(found) == 0 {
			return s
		}
		s = cutOut(s, found)
	}
	return s
}

// span is a range of bytes.
type span struct{ from, to int }

// escapedSpans are the ranges of s that contain a secret after the fewest layers of unescaping.
func (r Redactor) escapedSpans(s string) []span {
	view, at := s, identity(len(s))
	for range maxDepth {
		plain, offsets := unescape(view, at)
		if plain == view {
			return nil
		}
		view, at = plain, offsets
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
		if len(found) > 0 {
			slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
			return found
		}
	}
	return nil
}

// cutOut replaces spans, which are sorted and may overlap, by Placeholder.
func cutOut(s string, spans []span) string {
	var out strings.Builder
	done := 0
	for _, at := range spans {
		if at.from >= done {
			out.WriteString(s[done:at.from])
			out.WriteString(Placeholder)
		}
		done = max(done, at.to)
	}
	out.WriteString(s[done:])
	return out.String()
}

// Bytes returns a body without secrets, and with all its other bytes: it may be in any charset. It
// leaves JSON as it is, which is for [Redactor.JSON].
func (r Redactor) Bytes(body []byte) []byte {
	if r.replacer == nil || json.Valid(body) {
		return body
	}
	return []byte(r.redactEscaped(r.replacer.Replace(string(body))))
}

// Partial returns a body that was cut without the beginning of a secret at its end, as it is or in
// escapes, of which the last may be cut too.
func (r Redactor) Partial(body []byte) []byte {
	if r.replacer == nil {
		return body
	}
	keep := len(body) - beginningAtEnd(string(body), r.forms)
	view := cutEscape.ReplaceAllString(string(body), "")
	at := identity(len(view))
	for range maxDepth {
		plain, offsets := unescape(view, at)
		if plain == view {
			break
		}
		view, at = plain, offsets
		if n := beginningAtEnd(view, r.plain); n > 0 {
			keep = min(keep, at[len(view)-n])
		}
	}
	return body[:keep]
}

// cutEscape is an escape at the end of a text that may not be whole.
var cutEscape = regexp.MustCompile(`(?:%[0-9a-fA-F]?|\\+(?:[ux][0-9a-fA-F]{0,3})?|&#?[0-9a-zA-Z]{0,8})$`)

// beginningAtEnd is how many bytes at the end of a text are the beginning of a secret.
func beginningAtEnd(text string, secrets []string) (most int) {
	for _, secret := range secrets {
		for n := min(len(secret)-1, len(text)); n >= minPartialBytes && n > most; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				most = n
				break
			}
		}
	}
	return most
}

// Value redacts all strings, numbers and member names of a decoded JSON value. changed says whether
// there was a secret.
func (r Redactor) Value(value any) (clean any, changed bool) {
	switch value := value.(type) {
	case string:
		out := r.Text(value)
		return out, out != value
	case json.Number:
		if out := r.Text(value.String()); out != value.String() {
			return out, true
		}
		return value, false
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			cleaned, c := r.Value(item)
			out[i], changed = cleaned, changed || c
		}
		return out, changed
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			cleaned, c := r.Value(member)
			out[r.Text(name)] = cleaned
			changed = changed || c || r.Text(name) != name
		}
		return out, changed
	}
	return value, false
}

// Values redacts the values of a map.
func (r Redactor) Values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[name] = r.Text(value)
	}
	return out
}

// JSON redacts a text that may be JSON. JSON is redacted value by value first, because a number
// that is a secret would leave invalid JSON behind otherwise.
func (r Redactor) JSON(text string) string {
	if raw := jsonvalue.Raw(text); raw != nil && r.replacer != nil {
		if value, changed := r.Value(jsonvalue.Decode(raw)); changed {
			text = jsonvalue.Compact(value)
		}
	}
	return r.Text(text)
}
