package httpcall

import (
	"net/http"

	"parlance.dev/parlance/tools/modeltext"
)

// Answer is the result of the last attempt of a call.
type Answer struct {
	// Status is 0 when there was no answer.
	Status int
	Body   modeltext.Body
	// Attempts is how many requests were made.
	Attempts int

	method string
	header http.Header
	err    error // nil for a complete answer
	// connections is on how many connections bytes of the request may have been written. It is more
	// than one when net/http repeats a request by itself: a GET whose idle connection breaks, or any
	// request of which no byte was sent.
	connections int
}

// Complete says that the whole body was read.
func (a Answer) Complete() bool { return a.err == nil && !a.Body.Cut }
