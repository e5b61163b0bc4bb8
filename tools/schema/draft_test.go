package schema

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
)

// TestDrafts: a schema is read in the draft that it names. An array as items and dependencies are
// of draft-07 only.
func TestDrafts(t *testing.T) {
	t.Parallel()
	var c Cache
	old := json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
		"pair":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false},"a":{},"b":{"$ref":"#/definitions/n"}},
		"dependencies":{"a":["b"]},"definitions":{"n":{"type":"number"}}}`)
	if _, err := c.Check(old); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"pair":["x",1],"a":1,"b":2}`: "",
		`{"pair":[1,1]}`:               "pair[0]",
		`{"pair":["x",1,2]}`:           "pair",
		`{"a":1}`:                      "the object",
		`{"b":"x"}`:                    "b",
	} {
		wantViolation(t, &c, old, arguments, want)
	}
	for _, draft := range []string{"http://json-schema.org/draft-04/schema#", "https://example.com/schema"} {
		if _, err := c.Check(json.RawMessage(`{"$schema":"` + draft + `","type":"object"}`)); err == nil {
			t.Errorf("%s is accepted", draft)
		}
	}
	doubling := strings.Replace(string(exponential(40, `"items":[{"$ref":"#/$defs/d0"}],"dependencies":{"a":{"$ref":"#/$defs/d0"}}`)),
		"{", `{"$schema":"http://json-schema.org/draft-07/schema#",`, 1)
	if _, err := c.Check(json.RawMessage(doubling)); err == nil {
		t.Error("a schema of draft-07 without end is accepted")
	}
}

// TestFormats: some formats are enforced, the same in every draft.
func TestFormats(t *testing.T) {
	t.Parallel()
	var c Cache
	for _, draft := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
		for format, values := range map[string][2]string{
			"date": {"2026-02-28", "2026-02-30"}, "date-time": {"2026-02-28T10:00:00Z", "2026-02-28 10:00"},
			"email": {"a@example.com", "a at example.com"}, "uuid": {"2f1c0b2e-0000-4000-8000-000000000000", "2f1c"},
			"uri": {"https://example.com/a", "example"}, "regex": {"(", ""}, "hostname": {"..", ""}, "unknown": {"x", ""},
		} {
			schema := json.RawMessage(`{` + draft + `"type":"object","properties":{"a":{"type":"string","format":"` + format + `"}}}`)
			wantViolation(t, &c, schema, `{"a":"`+values[0]+`"}`, "")
			if values[1] != "" {
				wantViolation(t, &c, schema, `{"a":"`+values[1]+`"}`, "a")
			}
			if format == "email" {
				for address, want := range map[string]string{"@b": "a", "@": "a", "@a@b": "a", "a@b": "", "a..b@c": "a", "a@-b": "a"} {
					wantViolation(t, &c, schema, `{"a":"`+address+`"}`, want)
				}
			}
		}
	}
}

// wantViolation checks which argument violates a schema, "" for none.
func wantViolation(t *testing.T, c *Cache, schema json.RawMessage, arguments, want string) {
	t.Helper()
	decoded, fields := DecodeArguments(json.RawMessage(arguments))
	if len(fields) == 0 {
		var err error
		if fields, err = c.CheckArguments(schema, decoded); err != nil {
			t.Errorf("%s: %v", schema, err)
			return
		}
	}
	got := ""
	if len(fields) > 0 {
		got = cmp.Or(fields[0].Field, "the object")
	}
	if got != want {
		t.Errorf("%s of %s: violates %q, want %q (%+v)", arguments, schema, got, want, fields)
	}
}
