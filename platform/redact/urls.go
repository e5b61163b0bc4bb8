package redact

import (
	"net/url"
	"regexp"
	"strings"
)

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

// urlQuery is the query of a URL, with what stands before it.
var urlQuery = regexp.MustCompile(`(://[^\s?#]*\?)([^\s#"'<>]*)`)

// Queries hides the values of all parameters of the URLs in a text, and parameters without a name,
// for records that stay: a name does not show what is secret.
func Queries(text string) string {
	return urlQuery.ReplaceAllStringFunc(text, func(found string) string {
		parts := urlQuery.FindStringSubmatch(found)
		parameters := strings.Split(parts[2], "&")
		for i, parameter := range parameters {
			name, value, named := strings.Cut(parameter, "=")
			switch {
			case named && value != "":
				parameters[i] = name + "=***"
			case !named && name != "":
				parameters[i] = "***"
			}
		}
		return parts[1] + strings.Join(parameters, "&")
	})
}

// anyURL is a URL in a text.
var anyURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]*`)

// Origins leaves scheme and host of the URLs in a text: see Origin.
func Origins(text string) string { return anyURL.ReplaceAllStringFunc(text, Origin) }

// Origin returns scheme and host of a URL, as in https://example.com/…, for readers who may not see
// the secrets that a path may hold too. It returns Placeholder for what is no URL.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return Placeholder
	}
	origin := u.Scheme + "://" + u.Host
	if u.User == nil && (address == origin || address == origin+"/") {
		return address
	}
	return origin + "/…"
}
