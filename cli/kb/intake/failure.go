package intake

import (
	"errors"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// SourceFailure is a failed ingestion.
type SourceFailure struct{ Source *parlancev1.Source }

func (f *SourceFailure) Error() string {
	if message := f.Source.GetError().GetMessage(); message != "" {
		return message
	}
	return "it could not be ingested"
}

// CodeOf returns the code of an item's error: that of the source or of the problem. It may be
// empty.
func CodeOf(err error) string {
	if failure, ok := errors.AsType[*SourceFailure](err); ok {
		return failure.Source.GetError().GetCode()
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Code
	}
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return string(decided.Reason)
	}
	return ""
}
