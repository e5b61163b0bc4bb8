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

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

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

// dumpDatabase is every row of every table as text; bytea is in hex there.
func dumpDatabase(t *testing.T, e *harness.Env) []byte {
	t.Helper()
	var dump bytes.Buffer
	for _, table := range harness.Rows[string](t, e,
		"SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'") {
		for _, row := range harness.Rows[string](t, e, "SELECT r::text FROM "+pgx.Identifier{table}.Sanitize()+" AS r") {
			fmt.Fprintf(&dump, "%s: %s\n", table, row)
		}
	}
	return dump.Bytes()
}

// dumpRedis is every key and value.
func dumpRedis(t *testing.T, client *goredis.Client) []byte {
	t.Helper()
	var dump bytes.Buffer
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		var value any
		switch kind := client.Type(t.Context(), key).Val(); kind {
		case "string":
			value = client.Get(t.Context(), key).Val()
		case "list":
			value = client.LRange(t.Context(), key, 0, -1).Val()
		case "hash":
			value = client.HGetAll(t.Context(), key).Val()
		case "set":
			value = client.SMembers(t.Context(), key).Val()
		case "zset":
			value = client.ZRange(t.Context(), key, 0, -1).Val()
		case "stream":
			value = client.XRange(t.Context(), key, "-", "+").Val()
		}
		fmt.Fprintf(&dump, "%s: %v\n", key, value)
	}
	return dump.Bytes()
}
