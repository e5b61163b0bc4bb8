package problem

import (
	"regexp"
	"strings"
)

// sentences turn protovalidate's messages into instructions for the caller. The first match
// counts; a message without a match stays as it is.
var sentences = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`^value length must be at least 1 (?:characters|bytes)$`), "Is required and cannot be empty."},
	{regexp.MustCompile(`^value length must be at (least|most) (\d+) (characters|bytes)$`), "Must have at $1 $2 $3."},
	{regexp.MustCompile(`^value must contain at least 1 item\(s\)$`), "Must have at least one item."},
	{regexp.MustCompile(`^value must contain no more than (\d+) item\(s\)$`), "Must have at most $1 items."},
	{regexp.MustCompile(`^map must be at most (\d+) entries$`), "Must have at most $1 members."},
	{regexp.MustCompile(`^value must be greater than or equal to (\S+) and less than or equal to (\S+)$`), "Must be from $1 to $2."},
	{regexp.MustCompile(`^value must be greater than or equal to (\S+)$`), "Must be at least $1."},
	{regexp.MustCompile(`^value must be less than or equal to (\S+)$`), "Must be at most $1."},
	{regexp.MustCompile("^value does not match regex pattern (`.*`)$"), "Must match $1."},
	// The empty value in a list of ours stands for a field that was not sent.
	{regexp.MustCompile(`^value must be in list \[(?:, )?(.*)\]$`), "Must be one of $1."},
}

// sentence rewrites a message of protovalidate.
func sentence(message string) string {
	for _, s := range sentences {
		if s.pattern.MatchString(message) {
			return s.pattern.ReplaceAllString(message, s.instead)
		}
	}
	if rest, ok := strings.CutPrefix(message, "value must "); ok {
		return "Must " + rest + "."
	}
	return message
}
