package intake

import (
	"errors"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// SourceFailure is an ingestion that failed.
type SourceFailure struct{ Source *parlancev1.Source }

func (f *SourceFailure) Error() string {
	if message := f.Source.GetError().GetMessage(); message != "" {
		return message
	}
	return "it could not be ingested"
}

// CodeOf is the code of an item's error: a source's, or a problem's; empty when there is none.
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
