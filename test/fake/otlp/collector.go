package otlp

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span that was exported. Ids are lower-case hex.
type Span struct {
	Service, Name, Kind       string
	TraceID, SpanID, ParentID string
	// Attributes are values as text; lists are joined by commas.
	Attributes map[string]string
	// Links are ids of traces.
	Links []string
	// Error is the status's message; empty when it is none.
	Error string
}

// Collector is the server.
type Collector struct {
	// URL is what PARLANCE_OTLP_ENDPOINT takes.
	URL string

	mu      sync.Mutex
	changed chan struct{}
	spans   []Span
	raw     []byte
	headers []http.Header
	refusal func(http.ResponseWriter, *http.Request)
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{changed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	c.URL = server.URL + "/v1/traces"
	return c
}

// Refuse answers exports in place of the collector from now on; nil takes them again.
func (c *Collector) Refuse(answer func(http.ResponseWriter, *http.Request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = answer
}

// Raw is every byte of every export, uncompressed.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.raw)
}

// Headers are those of every export.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Await waits for a span and returns it; batches are exported every five seconds.
func (c *Collector) Await(t testing.TB, within time.Duration, what string, ok func(Span) bool) Span {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		changed, spans := c.changed, c.spans
		c.mu.Unlock()
		if i := slices.IndexFunc(spans, ok); i >= 0 {
			return spans[i]
		}
		select {
		case <-changed:
		case <-deadline.C:
			names := map[string]int{}
			for _, s := range spans {
				names[s.Service+": "+s.Name]++
			}
			t.Fatalf("no span within %s: %s; there are %v", within, what, names)
		}
	}
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	refuse := c.refusal
	c.mu.Unlock()
	if refuse != nil {
		refuse(w, r)
		return
	}
	body, err := read(r)
	var request collectorv1.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	c.headers = append(c.headers, r.Header.Clone())
	for _, resource := range request.GetResourceSpans() {
		service := attributes(resource.GetResource().GetAttributes())["service.name"]
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, spanOf(service, span))
			}
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

func spanOf(service string, span *tracev1.Span) Span {
	out := Span{
		Service: service, Name: span.GetName(), Kind: strings.ToLower(strings.TrimPrefix(span.GetKind().String(), "SPAN_KIND_")),
		TraceID: hex.EncodeToString(span.GetTraceId()), SpanID: hex.EncodeToString(span.GetSpanId()),
		ParentID:   hex.EncodeToString(span.GetParentSpanId()),
		Attributes: attributes(span.GetAttributes()), Error: span.GetStatus().GetMessage(),
	}
	for _, link := range span.GetLinks() {
		out.Links = append(out.Links, hex.EncodeToString(link.GetTraceId()))
	}
	return out
}

func attributes(list []*commonv1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, one := range list {
		out[one.GetKey()] = text(one.GetValue())
	}
	return out
}

func text(value *commonv1.AnyValue) string {
	switch v := value.GetValue().(type) {
	case *commonv1.AnyValue_StringValue:
		return v.StringValue
	case *commonv1.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *commonv1.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue)
	case *commonv1.AnyValue_ArrayValue:
		var parts []string
		for _, one := range v.ArrayValue.GetValues() {
			parts = append(parts, text(one))
		}
		return strings.Join(parts, ",")
	}
	return value.String()
}
