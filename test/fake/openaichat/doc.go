// Package openaichat is a small server on OpenAI's chat-completions wire, for tests:
//
//	llm := openaichat.New(t, openaichat.Reply{Text: []string{"Hel", "lo"}})
//	provider, err := openai.New(openai.Config{
//		BaseURL: llm.BaseURL, Model: openaichat.Model, Client: http.DefaultClient,
//	})
//	… llm.Requests()[0].System …
//
// It streams the replies of its script in order; without a script, or at its end, it is
// gullible: it calls a tool whose name the user's text contains, repeats what the tool said,
// and otherwise echoes. Requests that OpenAI would refuse are refused as OpenAI does.
// It serves GET /v1/models too. It knows streaming requests only.
package openaichat
