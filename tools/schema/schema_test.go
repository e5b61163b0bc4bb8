package schema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// exponential is a schema in which each of n definitions refers to the next one twice: 2^n checks.
func exponential(n int, start string) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object",` + start + `,"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"required":["zz"]}}}`, n)
	return json.RawMessage(b.String())
}

// TestCostIsBounded: no schema that a tenant writes makes a check take long.
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	nested := any(map[string]any{})
	for range 200 {
		nested = map[string]any{"a": nested}
	}
	wide := make([]any, 50_000)
	named := map[string]any{}
	for i := range 4_000 {
		named[strings.Repeat("a", 60)+strconv.Itoa(i)] = true
	}
	rows := []struct {
		name      string
		schema    json.RawMessage
		arguments map[string]any
		created   bool
	}{
		{"doubling", exponential(40, `"$ref":"#/$defs/d0"`), nil, false},
		{"itself", json.RawMessage(`{"type":"object","$ref":"#"}`), nil, false},
		{"doubling below an argument", exponential(40, `"properties":{"a":{"$ref":"#/$defs/d0"}}`), map[string]any{"a": "x"}, true},
		{
			"doubling with each level",
			json.RawMessage(
				`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["z"]},{"properties":{"a":{"$ref":"#"}},"required":["z"]}]}`,
			),
			nested.(map[string]any), true,
		},
		{"much for each of many", exponential(8, `"properties":{"a":{"items":{"$ref":"#/$defs/d0"}}}`), map[string]any{"a": wide}, true},
		{
			"a pattern that tries much", json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"(.*a){400}b$"}}}`),
			map[string]any{"a": strings.Repeat("a", 250_000)},
			true,
		},
		{"a pattern for each of many names", json.RawMessage(`{"type":"object","patternProperties":{"(.*a){400}b$":{}}}`), named, true},
		{"many names for a pattern", json.RawMessage(`{"type":"object","propertyNames":{"pattern":"(.*a){400}b$"}}`), named, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			runtime.LockOSThread() // its processor time is measured
			defer runtime.UnlockOSThread()
			var s Cache
			started := threadTime()
			_, err := s.Check(row.schema)
			if (err == nil) != row.created {
				t.Fatalf("creation: %v", err)
			}
			if !row.created {
				if !strings.Contains(err.Error(), "repeats itself") {
					t.Errorf("got %v", err)
				}
				return
			}
			fields, err := s.CheckArguments(row.schema, row.arguments)
			if err != nil || len(fields) != 1 || fields[0].Code != "too_complex" {
				t.Errorf("arguments: %v, %v", fields, err)
			}
			if took := threadTime() - started; took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// threadTime is the processor time of this thread, which does not depend on the load of the
// machine. Systems without it fall back to the time of day.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD of Linux
	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestSchemaMessages: messages about a schema name its own fields, and no file of this service.
func TestSchemaMessages(t *testing.T) {
	t.Parallel()
	rows := []struct{ schema, says string }{
		{`{"type":"object","properties":{"a":{"type":"strin"}}}`, "properties.a.type: value must be one of"},
		{`{"type":"object","properties":{"a":{"$ref":"other.json"}}}`, `$ref "other.json" points to nothing`},
		{`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, `$ref "file:///etc/passwd" points to nothing`},
		{`{"type":"object","$ref":"https://json-schema.org/draft/2020-12/schema"}`, "points to nothing"},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, "points to nothing"},
		{`{"type":"object","properties":{"a":{"$id":"https://example.com/","$ref":"#"}}}`, "cannot be used here"},
		{`{"type":"object","properties":{"a":{"pattern":"("}}}`, "missing closing"},
		{`{"type":"object","properties":{"a":{"pattern":"` + strings.Repeat("a{1000}", 11) + `"}}}`, "too long together"},
		{
			`{"type":"object","patternProperties":{"((a{100}){10})x{2,1000}":{},` +
				`"[^x]{1000}(ab){1000}c{1,1000}d{900,}":{},"(.?y{20}){45}(z?q){900}":{}}}`,
			"too long together",
		},
	}
	for _, row := range rows {
		var s Cache
		_, err := s.Check(json.RawMessage(row.schema))
		if err == nil || len(err.Error()) > 1<<10 || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "/tools") ||
			strings.Contains(err.Error(), documentURL) {
			t.Errorf("%s: got %v", row.schema, err)
		}
	}
}

// TestSchemaReferences: references within the schema work, recursive ones too.
func TestSchemaReferences(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"$id":"https://example.com/tree","type":"object","properties":{"tree":{"$ref":"#/$defs/no~1de"}},
		"$defs":{"no/de":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/no~1de"}},"n":{"type":"integer"}}}}}`)
	var s Cache
	if _, err := s.Check(raw); err != nil {
		t.Fatal(err)
	}
	for text, field := range map[string]string{
		`{"tree":{"kids":[{"n":1},{"kids":[{"n":2}]}]}}`:   "",
		`{"tree":{"kids":[{"n":1},{"kids":[{"n":"2"}]}]}}`: "tree.kids[1].kids[0].n",
	} {
		arguments, _ := DecodeArguments(json.RawMessage(text))
		fields, err := s.CheckArguments(raw, arguments)
		if err != nil || (field == "") != (len(fields) == 0) || len(fields) > 0 && fields[0].Field != field {
			t.Errorf("%s: got %+v, %v, want %q", text, fields, err, field)
		}
	}
}

// TestCacheIsBounded: the cache is bounded by the size of its schemas, not by their number.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var s Cache
	for i := range 300 {
		raw := json.RawMessage(
			`{"type":"object","title":"` + strconv.Itoa(i) + `","properties":{"a":{"pattern":"x{1000}` + strings.Repeat("a{1000}", 8) + `"}}}`,
		)
		if _, err := s.Check(raw); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, one := range s.compiled {
			kept += one.weight
		}
		if kept != s.weight || kept > maxCachedWeight {
			t.Fatalf("after %d: %d kept, counted as %d", i, kept, s.weight)
		}
	}
	if len(s.compiled) == 300 {
		t.Error("all 300 were kept, with 9,000 instructions each")
	}
}

// TestViolationsAreShort: a message does not repeat a long value.
func TestViolationsAreShort(t *testing.T) {
	t.Parallel()
	var s Cache
	fields, err := s.CheckArguments(
		json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"^b$"}}}`), map[string]any{"a": strings.Repeat("é", 100_000)},
	)
	if err != nil || len(fields) != 1 || len(fields[0].Message) > 600 || !utf8.ValidString(fields[0].Message) {
		t.Errorf("got %d bytes, %v", len(fmt.Sprint(fields)), err)
	}
}

// TestViolationsKeepDigits: a model corrects itself by the numbers of a message, so they are exact.
func TestViolationsKeepDigits(t *testing.T) {
	t.Parallel()
	var s Cache
	for _, row := range []struct{ keyword, bound, got, want string }{
		{"minimum", "9007199254740993", "9007199254740992", "minimum: got 9007199254740992, want 9007199254740993"},
		{"maximum", "9007199254740992", "9007199254740993", "maximum: got 9007199254740993, want 9007199254740992"},
		{"exclusiveMinimum", "0.1", "0.10", "exclusiveMinimum: got 0.1, want 0.1"},
		{"exclusiveMaximum", "-1e3", "12345678901234567.25", "exclusiveMaximum: got 12345678901234567.25, want -1000"},
		{"multipleOf", "0.01", "9007199254740993.005", "multipleOf: got 9007199254740993.005, want 0.01"},
		{"maximum", "1", "1e300", "maximum: got 1e+300, want 1"},
	} {
		arguments, _ := DecodeArguments(json.RawMessage(`{"a":` + row.got + `}`))
		fields, err := s.CheckArguments(json.RawMessage(`{"type":"object","properties":{"a":{"`+row.keyword+`":`+row.bound+`}}}`), arguments)
		if err != nil || len(fields) != 1 || fields[0].Message != row.want {
			t.Errorf("%s %s of %s: got %+v, %v, want %s", row.keyword, row.bound, row.got, fields, err, row.want)
		}
	}
}
