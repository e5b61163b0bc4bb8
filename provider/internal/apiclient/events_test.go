package apiclient_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/provider/internal/apiclient"
)

func read(body io.Reader) ([]string, error) {
	events := apiclient.NewEvents(body)
	var all []string
	for events.Next() {
		all = append(all, string(events.Data()))
	}
	return all, events.Err()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"two", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"names and comments", ": hello\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", []string{"a"}},
		{"one space is the field's", "data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		{"lines of one event", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"carriage returns", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"empty data", "data:\n\ndata: a\n\n", []string{"a"}},
		{"one JSON object", "\n{\n  \"a\": 1,\n\n  \"b\": \"data: x\"\n}", []string{"{\n  \"a\": 1,\n\n  \"b\": \"data: x\"\n}\n"}},
		{"a line like JSON among events", "data: a\n\n{\n\ndata: b\n\n", []string{"a", "b"}},
		{"a page", "<html>\n{\n</html>\n", []string{"{\n</html>\n"}},
		{"no last empty line", "data: a\n\ndata: [DONE]", []string{"a", "[DONE]"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(strings.NewReader(row.stream))
			if diff := cmp.Diff(got, row.want); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestEventsCut: what a lost connection cut is not handed on, and its error is kept.
func TestEventsCut(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(lost)))
	if diff := cmp.Diff(got, []string{"a"}); diff != "" || !errors.Is(err, lost) {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := read(strings.NewReader("data: " + strings.Repeat("x", 5<<20))); err == nil {
		t.Error("a line without end was read")
	}
}

// TestEventsEndless: an event may be no longer than a line, however many it has.
func TestEventsEndless(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1<<20)
	for name, stream := range map[string]string{"lines": strings.Repeat("data: "+line+"\n", 5), "JSON": "{\n" + strings.Repeat(line+"\n", 5)} {
		if got, err := read(strings.NewReader(stream)); err == nil || len(got) > 0 {
			t.Errorf("%s: %d events were read", name, len(got))
		}
	}
}

// TestEventsStreamed tells events from what is none.
func TestEventsStreamed(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]bool{
		"": false, "<html>: x\n": false, "{}": false, "data: a\n\n": true, ": waiting\n": true,
		"event: x\n": true, "retry: 5": true,
	} {
		events := apiclient.NewEvents(strings.NewReader(stream))
		for events.Next() {
			_ = events.Data()
		}
		if got := events.Streamed(); got != want {
			t.Errorf("%q: got %t", stream, got)
		}
	}
}

// FuzzEvents: how the stream is cut into reads makes no difference, and no event is empty.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\ndata: b\n\n")
	f.Add(": c\r\nevent: x\r\ndata:{\"a\":1}\r\ndata\n\ndata: [DONE]")
	f.Fuzz(func(t *testing.T, stream string) {
		whole, err := read(strings.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := read(iotest.OneByteReader(strings.NewReader(stream)))
		if diff := cmp.Diff(whole, bytewise, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		for _, data := range whole {
			if data == "" {
				t.Error("an event without data")
			}
		}
	})
}
