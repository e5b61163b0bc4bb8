package interceptor

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// leastNotice is how long a deprecated method stays.
const leastNotice = 180 * 24 * time.Hour

// Deprecation says since when a method is deprecated, and from when on it may be gone.
type Deprecation struct {
	Since, Sunset time.Time
	// Guide is the URL of what to use instead.
	Guide string
}

// announce tells the caller. Source: RFC 9745 (Deprecation), RFC 8594 (Sunset).
func (d *Deprecation) announce(answer http.Header) {
	if d == nil {
		return
	}
	answer.Set("Deprecation", "@"+strconv.FormatInt(d.Since.Unix(), 10))
	answer.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
	answer.Add("Link", "<"+d.Guide+`>; rel="deprecation"; type="text/html"`)
}

// deprecationOf reads the option of a method; nil when the method stays.
// Error: it is incomplete, or too short.
func deprecationOf(method protoreflect.MethodDescriptor) (*Deprecation, error) {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	stated, _ := proto.GetExtension(options, parlancev1.E_Deprecation).(*parlancev1.Deprecation)
	if options.GetDeprecated() != (stated != nil) {
		return nil, fmt.Errorf("the method %s needs both options, deprecated and deprecation, or neither", method.FullName())
	}
	if stated == nil {
		return nil, nil //nolint:nilnil // the method stays
	}
	since, err := time.Parse(time.DateOnly, stated.GetSince())
	if err != nil {
		return nil, fmt.Errorf("deprecation of %s: %w", method.FullName(), err)
	}
	sunset, err := time.Parse(time.DateOnly, stated.GetSunset())
	if err != nil {
		return nil, fmt.Errorf("deprecation of %s: %w", method.FullName(), err)
	}
	if sunset.Sub(since) < leastNotice || stated.GetGuide() == "" {
		return nil, fmt.Errorf("deprecation of %s: its callers need half a year and a guide", method.FullName())
	}
	return &Deprecation{Since: since, Sunset: sunset, Guide: stated.GetGuide()}, nil
}
