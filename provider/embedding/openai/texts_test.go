package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/openai"
	"parlance.dev/parlance/test/fake/openaiembed"
)

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d.", i)
	}
	return texts
}

// TestPoison names the one text that the server does not take, and pays for little else.
func TestPoison(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	server.Poison("number 77.")
	_, err := open(t, server.URL, openaiembed.APIKey).Embed(t.Context(), numbered(100), embedding.Document)
	refused, ok := errors.AsType[*embedding.Refused](err)
	if !ok || refused.Index != 77 {
		t.Fatalf("got %v, want the text 77 refused", err)
	}
	if !fault.IsReason(err, fault.UpstreamFailed) || strings.Contains(err.Error(), "number 77") {
		t.Errorf("got %v, want upstream-failed without the text", err)
	}
}

// TestRefusesEveryText is a fault of the configuration, not of a text.
func TestRefusesEveryText(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	server.Poison("te")
	_, err := open(t, server.URL, openaiembed.APIKey).Embed(t.Context(), numbered(3), embedding.Document)
	if _, ok := errors.AsType[*embedding.Refused](err); ok || !fault.IsReason(err, fault.UpstreamFailed) ||
		!strings.Contains(err.Error(), "refuses every text") {
		t.Errorf("got %v", err)
	}
}

// TestFewerAtOnce learns that the server takes fewer texts a call, and keeps to that.
func TestFewerAtOnce(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	server.Limit(20)
	e := open(t, server.URL, openaiembed.APIKey)
	texts := numbered(64)
	vectors, err := e.Embed(t.Context(), texts, embedding.Document)
	if err != nil || len(vectors) != 64 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, i := range []int{0, 15, 16, 63} {
		alone, err := e.Embed(t.Context(), texts[i:i+1], embedding.Document)
		if err != nil || !slices.Equal(alone[0], vectors[i]) {
			t.Errorf("text %d has the vector of another (%v)", i, err)
		}
	}
	before := len(server.Batches())
	if _, err := e.Embed(t.Context(), texts, embedding.Document); err != nil {
		t.Fatal(err)
	}
	if got, want := server.Batches()[before:], []int{16, 16, 16, 16}; !slices.Equal(got, want) {
		t.Errorf("then it sent batches of %v, want %v", got, want)
	}
}

func TestPrefixesAndDimensions(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	deps := openai.Deps{
		BaseURL: server.URL, APIKey: openaiembed.APIKey, Model: openaiembed.Model, Client: http.DefaultClient,
		Prefixes: openai.Prefixes{Query: "query: ", Document: "passage: "}, Dimensions: 8,
	}
	e, err := openai.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []embedding.Kind{embedding.Document, embedding.Query} {
		vectors, err := e.Embed(t.Context(), []string{"tea"}, kind)
		if err != nil || len(vectors[0]) != 8 {
			t.Errorf("kind %d: %v, %v", kind, vectors, err)
		}
	}
	if got, want := server.Texts(), []string{"passage: tea", "query: tea"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	// What changes stored vectors changes the name; what stands before questions does not.
	names := map[string]bool{e.Model().Name: true}
	for _, change := range []func(*openai.Deps){
		func(d *openai.Deps) { d.Prefixes.Document = "" },
		func(d *openai.Deps) { d.Prefixes.Document = "text: " },
		func(d *openai.Deps) { d.Dimensions = 16 },
		func(d *openai.Deps) { d.Dimensions, d.Prefixes.Document = 0, "" },
	} {
		changed := deps
		change(&changed)
		other, err := openai.New(changed)
		if err != nil || names[other.Model().Name] {
			t.Errorf("%+v is called %q too (%v)", changed, other.Model().Name, err)
		}
		names[other.Model().Name] = true
	}
	if !names[openaiembed.Model] {
		t.Errorf("without prefix and dimensions the name is changed: %v", names)
	}
	deps.Prefixes.Query = "ask: "
	if same, err := openai.New(deps); err != nil || same.Model().Name != e.Model().Name {
		t.Errorf("another query prefix makes another model (%v)", err)
	}
}

// TestAnotherModelUnderTheName refuses vectors that cannot be compared with the stored ones.
func TestAnotherModelUnderTheName(t *testing.T) {
	t.Parallel()
	e, err := openai.New(openai.Deps{
		BaseURL: openaiembed.Start(t).URL, APIKey: openaiembed.APIKey, Model: openaiembed.Model, Client: http.DefaultClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Expect(48)
	_, err = e.Embed(t.Context(), []string{"a"}, embedding.Query)
	if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), "32 numbers, not 48") ||
		!strings.Contains(err.Error(), "EMBEDDING_NAME") {
		t.Errorf("got %v", err)
	}
}

// TestLongRetryAfter leaves it to the caller to come back then.
func TestLongRetryAfter(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	server.Refuse(openaiembed.Refusal{Status: http.StatusTooManyRequests, RetryAfter: "600"})
	_, err := open(t, server.URL, openaiembed.APIKey).Embed(t.Context(), []string{"a"}, embedding.Query)
	if got := fault.From(err).RetryAfter; got != 10*time.Minute || len(server.Batches()) != 1 {
		t.Errorf("after %s, %d calls; want 10m, 1 (%v)", got, len(server.Batches()), err)
	}
}

func TestKnownPrefixes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]openai.Prefixes{
		"intfloat/multilingual-e5-base": {Query: "query: ", Document: "passage: "},
		"nomic-embed-text:v1.5":         {Query: "search_query: ", Document: "search_document: "},
		"BAAI/bge-small-en-v1.5":        {Query: "Represent this sentence for searching relevant passages: "},
		"BAAI/bge-m3":                   {},
		"text-embedding-3-small":        {},
	} {
		if got := openai.KnownPrefixes(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
