package httpcall

import (
	"context"
	"net/http"
	"strconv"

	"parlance.dev/parlance/platform/telemetry"
)

// startAttempt begins the span of one request and adds its trace context to the headers, so that
// the spans of the endpoint join it. Of the URL it records only the host: the rest may have
// secrets.
func startAttempt(ctx context.Context, request *http.Request) *telemetry.Span {
	ctx, span := telemetry.Start(ctx, telemetry.Client, request.Method,
		telemetry.Text("http.request.method", request.Method), telemetry.Text("server.address", request.URL.Hostname()))
	telemetry.Propagate(ctx, request.Header)
	return span
}

func endAttempt(span *telemetry.Span, last Answer) {
	if last.Status != 0 {
		span.Set(telemetry.Number("http.response.status_code", last.Status))
	}
	switch {
	case last.err != nil:
		span.Fail("connection")
	case last.Status >= http.StatusBadRequest:
		span.Fail(strconv.Itoa(last.Status))
	}
	span.End(nil)
}
