package rpc

import (
	"bytes"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/platform/postgres"
)

// timestamp returns nil for the zero time, so that JSON has null.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// timeOf returns the zero time for an absent timestamp.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// pageRequest is what all list requests have in common.
type pageRequest interface {
	GetPageSize() int32
	GetPageToken() string
}

func pageParams(req pageRequest) postgres.PageParams {
	return postgres.PageParams{Size: int(req.GetPageSize()), Token: req.GetPageToken()}
}

// searchRequest is a list request with a filter by text and an order.
type searchRequest interface {
	pageRequest
	GetQ() string
	GetOrderBy() string
}

func searchParams(req searchRequest) postgres.PageParams {
	params := pageParams(req)
	params.Query, params.OrderBy = req.GetQ(), req.GetOrderBy()
	return params
}

// jsonOf returns a Struct as JSON; nil for an absent one.
func jsonOf(s *structpb.Struct) json.RawMessage {
	if s == nil {
		return nil
	}
	encoded, err := protojson.Marshal(s)
	if err != nil { // only NaN in a Struct cannot be written as JSON; it becomes null
		return json.RawMessage("null")
	}
	return encoded
}

// exactOf returns the JSON of a Struct and of the field with its exact JSON, which is read in place
// of it.
func exactOf(exact string, s *structpb.Struct) json.RawMessage {
	if exact != "" {
		return json.RawMessage(exact)
	}
	return jsonOf(s)
}

// textOf returns JSON without spaces, for the field with the exact JSON of a Struct: what Postgres
// keeps has some.
func textOf(raw json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	return compact.String()
}

// structOf returns a JSON object as a Struct; nil for anything else.
func structOf(object json.RawMessage) *structpb.Struct {
	if len(object) == 0 {
		return nil
	}
	s := new(structpb.Struct)
	if err := protojson.Unmarshal(object, s); err != nil {
		return nil
	}
	return s
}

// each converts a slice.
func each[From, To any](list []From, convert func(From) To) []To {
	converted := make([]To, len(list))
	for i, one := range list {
		converted[i] = convert(one)
	}
	return converted
}
