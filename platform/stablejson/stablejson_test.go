package stablejson_test

import (
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/platform/stablejson"
)

// TestMarshal: there are no spaces but in strings, and a string that is not UTF-8 is refused.
func TestMarshal(t *testing.T) {
	t.Parallel()
	message, err := structpb.NewStruct(map[string]any{`a "b`: []any{"c  d\\", 1, nil, true}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := stablejson.Marshal(message)
	if want := `{"a \"b":["c  d\\",1,null,true]}`; string(got) != want || err != nil {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if _, err := stablejson.Marshal(structpb.NewStringValue("\xff")); err == nil {
		t.Error("a string that is not UTF-8 was encoded")
	}
}
