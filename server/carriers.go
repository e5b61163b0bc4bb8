package server

import (
	"net/http"
	"strings"
)

// LinePath is the prefix of the phones of a simulated line:
// /v1/telephony/simulated/phones/{number}.
const LinePath = telephonyPath + "simulated/phones/"

// withCarriers serves what is below telephonyPath: the requests of carriers, their media sockets,
// and the phones of a simulated line.
func withCarriers(d Deps) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/media"):
			d.Media.ServeHTTP(w, r)
		case d.Line != nil && strings.HasPrefix(r.URL.Path, LinePath):
			d.Line.ServeHTTP(w, r)
		default:
			d.CarrierHooks.ServeHTTP(w, r)
		}
	})
}
