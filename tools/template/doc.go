// Package template fills the {{variable}} and {argument} placeholders of a tool's URL, headers and
// JSON, and escapes each value for its place, so that no value can change the rest of the request.
package template
