package scenario

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/dump"
	"parlance.dev/parlance/test/harness"
)

// canary is a secret that was planted, and where it may be found all the same.
type canary struct {
	name, secret string
	// allowed are names of places.
	allowed []string
}

// spellings are the forms in which a secret may slip out.
func spellings(secret string) map[string]string {
	forms := map[string]string{
		"plain": secret, "query-escaped": url.QueryEscape(secret), "path-escaped": url.PathEscape(secret),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	backwards := []byte(secret)
	slices.Reverse(backwards)
	forms["backwards"] = string(backwards)
	var unicode strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&unicode, `\u%04x`, c)
	}
	forms["JSON-escaped"] = unicode.String()
	// In base64 a secret has three forms, by where in its text it begins; what depends on its
	// neighbours is cut off.
	for shift := range 3 {
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(append(make([]byte, shift), secret...))
			forms[fmt.Sprintf("%s+%d", name, shift)] = encoded[[]int{0, 2, 3}[shift] : len(encoded)-2]
		}
	}
	return forms
}

// search looks for every canary in every place.
func search(t *testing.T, canaries []canary, places map[string][]byte) {
	t.Helper()
	for _, c := range canaries {
		if len(c.secret) < 16 {
			t.Errorf("%s: %q is too short to be told from anything else", c.name, c.secret)
			continue
		}
		forms := spellings(c.secret)
		for place, content := range places {
			if slices.Contains(c.allowed, place) {
				continue
			}
			for _, form := range slices.Sorted(maps.Keys(forms)) {
				if at := bytes.Index(content, []byte(forms[form])); at >= 0 {
					t.Errorf("%s is in %s (%s): …%s…", c.name, place, form, content[max(0, at-200):min(len(content), at+120)])
					break
				}
			}
		}
	}
}

// dumpDatabase is every row of every table as text.
func dumpDatabase(t *testing.T, e *harness.Env) []byte {
	t.Helper()
	content, err := dump.Postgres(t.Context(), e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// dumpRedis is every key and value.
func dumpRedis(t *testing.T, e *harness.Env) []byte {
	t.Helper()
	content, err := dump.Redis(t.Context(), e.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
