package redact

import "regexp"

// credentials are what stands before the @ of a URL. Those of a password are all up to the last @,
// because people do not always escape theirs.
var credentials = regexp.MustCompile(`://(?:([^:/?#\s,@]*:)[^\s,]*|[^:/?#\s,@]+)@`)

// secretParameter is a parameter of a URL whose name says that its value is a secret.
var secretParameter = regexp.MustCompile(`(?i)([?&][^=&\s,]*(?:key|token|secret|pass|pwd|auth|sig|credential)[^=&\s,]*=)[^&\s,#]*`)

// URLs hides passwords, names without a password, which may be tokens, and secret parameters of the
// URLs in a text.
func URLs(text string) string {
	text = credentials.ReplaceAllString(text, "://${1}***@")
	return secretParameter.ReplaceAllString(text, "${1}***")
}
