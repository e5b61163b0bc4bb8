package server

import (
	"net/http"

	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"parlance.dev/parlance/server/interceptor"
)

// unmatched is the route of requests that match no pattern, so that a scan of paths does not make
// a time series for each.
const unmatched = "unmatched"

// openProcedures are the procedures without a policy that the mux answers. Load balancers and
// tools call them; their names distinguish them from scans.
var openProcedures = map[string]bool{
	"/" + grpchealth.HealthV1ServiceName + "/Check":                       true,
	"/" + grpchealth.HealthV1ServiceName + "/Watch":                       true,
	"/" + grpcreflect.ReflectV1ServiceName + "/ServerReflectionInfo":      true,
	"/" + grpcreflect.ReflectV1AlphaServiceName + "/ServerReflectionInfo": true,
}

// routeName returns a function that names the route of an answered request, for logs and metrics.
func routeName(policies interceptor.Policies) func(*http.Request) string {
	return func(r *http.Request) string {
		if isRPC(r.URL.Path) {
			if _, known := policies[r.URL.Path]; known || openProcedures[r.URL.Path] {
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
