// Package openapi makes tools from the operations of an OpenAPI document (3.0 and 3.1, JSON or YAML):
//
//	Load     a file, a URL or the standard input → its text
//	Read     text → Document
//	Plan     Document, Options → Operations, each with its Tool or with why there is none
//
// A tool's arguments are the operation's parameters and the members of its JSON body, side by side in
// one schema without references: models are told nothing else, and few follow them. What a tool
// cannot send is left out and said. A document is what somebody else wrote: references that lead out
// of it are not followed, what it could make large is bounded, and text that would be filled with a
// conversation's variables is refused.
//
// It knows no installation and writes nothing.
package openapi
