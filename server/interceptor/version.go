package interceptor

import (
	"net/http"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// VersionHeader names, in a request, the version of the contract that its caller was written for,
// and, in every answer, the one it was answered by.
const VersionHeader = "Parlance-Version"

// versions are the versions of the contract that are served, oldest first. There is one. A second
// one is a day on which something changed that /v1 could not bear; see docs/versions.md.
var versions = []string{"2026-11-28"}

// SetVersion says in an answer's header by which version it is made.
func SetVersion(answer http.Header) { answer.Set(VersionHeader, versions[len(versions)-1]) }

// WithVersion refuses requests for a version that is not served. It is for handlers that are not
// behind the gate.
func WithVersion(next http.Handler, problems problem.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkVersion(r.Header); err != nil {
			problems.Write(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkVersion refuses a version that is not served. A request without the header is answered by
// the newest. Error: Invalid invalid-request.
func checkVersion(request http.Header) error {
	asked := request.Values(VersionHeader)
	if len(asked) == 0 || len(asked) == 1 && slices.Contains(versions, asked[0]) {
		return nil
	}
	return fault.InvalidField(VersionHeader, "unknown",
		"Send one of the versions that are served (%s), or leave the header out for the newest.", strings.Join(versions, ", "))
}
