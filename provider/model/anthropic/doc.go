// Package anthropic answers with Anthropic's Messages API, streaming, with tools.
//
// It is a plain client (net/http and server-sent events) rather than the official SDK, which
// cost a cold build 70 s of CPU time for one endpoint whose wire is documented and versioned by
// a header: decision 0003. What it sends and reads is checked against
// test/fake/anthropicmessages by the conformance suite.
//
// It does not do extended thinking (such blocks are passed over), images, documents or caching.
package anthropic
