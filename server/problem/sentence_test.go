package problem

import "testing"

func TestSentence(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"value length must be at least 1 characters":                             "Is required and cannot be empty.",
		"value length must be at most 200 characters":                            "Must have at most 200 characters.",
		"value must contain at least 1 item(s)":                                  "Must have at least one item.",
		"value must be greater than or equal to 0 and less than or equal to 200": "Must be from 0 to 200.",
		"value must be greater than or equal to 60":                              "Must be at least 60.",
		"value does not match regex pattern `^a$`":                               "Must match `^a$`.",
		"value must be in list [http, mcp]":                                      "Must be one of http, mcp.",
		"value must be in list [, read, admin]":                                  "Must be one of read, admin.",
		"value must be a valid hostname":                                         "Must be a valid hostname.",
		"what we say ourselves stays":                                            "what we say ourselves stays",
	} {
		if got := sentence(message); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}
