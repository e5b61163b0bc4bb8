// Package server is what a caller can touch: one port for every protocol.
//
//	/parlance.v1.<Service>/<Method>  gRPC, gRPC-Web and Connect       server/rpc
//	/v1/…                            REST, generated from the protos  server/rest
//	/v1/realtime/…                   WebSockets                       server/realtime
//	/healthz /readyz /metrics /openapi.json /errors/<code>            system.go
//
// Rules live in the nouns; this package and those under it convert and route.
package server
