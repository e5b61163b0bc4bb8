// Package problem is the two wire forms of a fault: RFC 9457 problem+json for whatever answers
// plain HTTP, and Connect errors with google.rpc details for the RPC protocols.
//
//	fault.Error ──ToConnect──► connect.Error{ErrorInfo, BadRequest, RetryInfo}
//	     ▲  └───Write────────► application/problem+json
//	     └──────FromConnect──── connect.Error
//
// ToConnect and FromConnect are each other's inverse for every reason of the error table, so the
// REST facade, which gets its errors from the Connect handlers, loses nothing. The HTTP status
// comes from the reason's kind, never from the Connect code. Nothing is logged here.
package problem
