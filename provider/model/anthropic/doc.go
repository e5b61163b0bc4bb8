// Package anthropic answers with Anthropic's Messages API, streaming, with tools.
//
// It is a plain client (net/http and server-sent events) rather than the official SDK: that
// one added 70 s of CPU time to a cold build beside openai-go, 205 s against 133 s on two
// cores, for one endpoint whose wire is documented and versioned by a header. What it sends and
// reads is checked against test/fake/anthropicmessages by the conformance suite.
//
// It does not do extended thinking (such blocks are passed over), images, documents or caching.
package anthropic
