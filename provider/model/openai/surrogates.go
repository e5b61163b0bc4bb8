package openai

import (
	"bytes"
	"regexp"
)

// surrogates joins characters that a server split between two chunks. JSON writes a character
// outside the basic plane as two escapes (a surrogate pair, "\ud83d\ude00"), and servers that count
// in UTF-16 may end a chunk between them. encoding/json would decode two broken characters.
type surrogates struct {
	// high is the first escape of a pair whose second one has not come yet.
	high []byte
}

var (
	highAtEnd  = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}"`)
	lowAtBegin = regexp.MustCompile(`: *"(\\u[dD][c-fC-F][0-9a-fA-F]{2})`)
)

const escapeBytes = len(`\u0000`)

// join inserts the high surrogate of the previous chunk into this one, and cuts off one that this
// chunk ends with.
func (s *surrogates) join(data []byte) []byte {
	if s.high == nil && !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return data
	}
	if at := lowAtBegin.FindSubmatchIndex(data); at != nil && s.high != nil {
		data = bytes.Join([][]byte{data[:at[2]], data[at[2]:]}, s.high)
	}
	s.high = nil
	if at := highAtEnd.FindIndex(data); at != nil && isEscape(data, at[0]) {
		s.high = bytes.Clone(data[at[0] : at[0]+escapeBytes])
		data = bytes.Join([][]byte{data[:at[0]], data[at[0]+escapeBytes:]}, nil)
	}
	return data
}

// isEscape says whether the backslash at a position begins an escape, rather than being escaped.
func isEscape(data []byte, at int) bool {
	before := data[:at]
	return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0
}
