package quickjson_test

import (
	"encoding/json"
	"testing"

	"parlance.dev/parlance/platform/quickjson"
)

// shape is what the tests read.
type shape struct {
	Name  string `json:"name"`
	Words string `json:"words"`
	Inner struct {
		Words string `json:"words"`
	} `json:"inner"`
	Number any `json:"number"`
	None   any `json:"none"`
}

var members = []quickjson.Member[shape]{
	{Name: "name", Read: func(r *quickjson.Reader, s *shape) bool { return r.String(&s.Name) }},
	{Name: "words", Read: func(r *quickjson.Reader, s *shape) bool { return words(r, &s.Words) }},
	{Name: "inner", Read: func(r *quickjson.Reader, s *shape) bool { return quickjson.Members(r, inner, s) != 0 }},
	{Name: "number", Read: func(r *quickjson.Reader, _ *shape) bool { return r.Number() }},
	{Name: "none", Read: func(r *quickjson.Reader, _ *shape) bool { return r.Null() }},
}

var inner = []quickjson.Member[shape]{
	{Name: "words", Read: func(r *quickjson.Reader, s *shape) bool { return words(r, &s.Inner.Words) }},
}

func words(r *quickjson.Reader, into *string) bool {
	var text []byte
	is := r.Words(&text)
	*into = string(text)
	return is
}

func read(data string) (s shape, seen uint) {
	r := quickjson.New([]byte(data))
	seen = quickjson.Members(&r, members, &s)
	if !r.End() {
		seen = 0
	}
	return s, seen
}

func TestMembers(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]uint{
		`{"name":"a"}`: 1,
		` { "words" : "é \n\"" , "name" : "" } `: 3,
		`{"inner":{"words":"x"},"none":null}`:    20,
		`{"number":0}`:                           8,
		`{}`:                                     0,
		`{"name":"é"}`:                           0,
		`{"name":"a\n"}`:                         0,
		`{"name":"a","name":"b"}`:                0,
		`{"Name":"a"}`:                           0,
		`{"other":"a"}`:                          0,
		`{"name":"a"}}`:                          0,
		`{"name":"a",}`:                          0,
		`{"name":"a"`:                            0,
		`{"number":01}`:                          0,
		`{"number":1.5}`:                         0,
		`{"number":1234567890123456}`:            0,
		`{"words":"\u00e9"}`:                     0,
		"{\"words\":\"\xc3\"}":                   0,
		"{\n\"name\":\"a\"}":                     0,
		`{"none":nul}`:                           0,
		``:                                       0,
	} {
		if _, got := read(data); got != want {
			t.Errorf("%s: got %b, want %b", data, got, want)
		}
	}
}

// FuzzMembers: what is read is what encoding/json reads.
func FuzzMembers(f *testing.F) {
	f.Add(`{"name":"a","words":"\\\/\b\f\r\t","inner":{"words":"日本"},"number":12,"none":null}`)
	f.Fuzz(func(t *testing.T, data string) {
		got, seen := read(data)
		if seen == 0 {
			return
		}
		var want shape
		if err := json.Unmarshal([]byte(data), &want); err != nil {
			t.Fatalf("%q was read, but is none: %v", data, err)
		}
		want.Number, want.None = nil, nil
		if got != want {
			t.Errorf("%q: got %+v, want %+v", data, got, want)
		}
	})
}
