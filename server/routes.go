package server

import (
	"net/http"

	"parlance.dev/parlance/server/interceptor"
)

// unmatched is the route of requests that no pattern takes, so that a scan of paths does not
// make a time series each.
const unmatched = "unmatched"

// routeName names the route of a request that has been answered, for logs and metrics.
func routeName(policies interceptor.Policies) func(*http.Request) string {
	return func(r *http.Request) string {
		if isRPC(r.URL.Path) {
			if _, known := policies[r.URL.Path]; known {
				return r.URL.Path
			}
			return unmatched
		}
		if r.Pattern == "" || r.Pattern == "/" {
			return unmatched
		}
		return r.Pattern
	}
}
