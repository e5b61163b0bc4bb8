// Package anthropic calls Anthropic's Messages API, streaming, with tools.
//
// It is a plain client (net/http and server-sent events). The official SDK took 70 s of CPU time of
// a cold build for one endpoint, which is documented and versioned by a header: decision 0003. The
// conformance suite checks it against test/fake/anthropicmessages.
//
// It has no extended thinking (such blocks are ignored), images, documents or caching.
package anthropic
