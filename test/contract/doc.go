// Package contract compares what the server answers with the OpenAPI document that it serves. The
// document is stricter about answers than the code that writes them: a closed set of values, a
// field that is never null, no field that is not named.
package contract
