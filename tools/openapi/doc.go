// Package openapi makes tools of the operations of an OpenAPI document (3.0 to 3.2, JSON or YAML):
//
//	Read     text → Document
//	Plan     Document, Options → Operations, each with a Tool or the reason why there is none
//	Compare  Tool, the tools there are → the one of its name, and the fields in which it differs
//
// The arguments of a tool are the parameters of the operation and the properties of its JSON body,
// in one schema without references, because few models follow references. Parts of an operation
// that a tool cannot send are left out and listed in its notes.
//
// Documents are not trusted. References to other documents are not followed, the size of schemas is
// limited, and text that looks like a placeholder of a conversation's variables is refused.
//
// The package fetches nothing, calls no installation and writes nothing. It reads documents with
// encoding/json and YAML alone. Two OpenAPI libraries were tried: kin-openapi refuses a whole
// document for one broken reference, and libopenapi adds about 90 s of CPU time to a cold build.
package openapi
