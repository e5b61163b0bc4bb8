// Package anthropicmessages is a small server on the wire of Anthropic's Messages API, for
// tests. It streams the replies of its script in order and is gullible at its end, as
// openaichat is. Requests that Anthropic would refuse (no version header, roles that do not
// alternate, text without a word, odd names and ids, a schema with anyOf at its top, a tool_use
// without its tool_result) are refused as Anthropic does.
package anthropicmessages
