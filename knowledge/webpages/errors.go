package webpages

import (
	"fmt"

	"parlance.dev/parlance/knowledge"
)

// refused is a failure that another try does not mend.
func refused(format string, args ...any) *knowledge.FetchError {
	return &knowledge.FetchError{Message: fmt.Sprintf(format, args...)}
}

// passing is a failure that may be over later.
func passing(format string, args ...any) *knowledge.FetchError {
	failed := refused(format, args...)
	failed.Passing = true
	return failed
}
