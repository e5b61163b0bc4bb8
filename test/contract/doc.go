// Package contract compares what the server answers with the OpenAPI document that it serves:
// fields that are always there, fields that are never null, closed sets of values, and the
// document's examples.
package contract
