package openai

import (
	"bytes"
	"regexp"
)

// halves joins characters that a server cut in two: those outside the basic plane are two escapes in JSON ("\ud83d\ude00"), and
// servers that count in UTF-16 end a piece between them. encoding/json would make two broken characters of that.
type halves struct{ first []byte }

var (
	halfAtEnd   = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}"`)
	halfAtBegin = regexp.MustCompile(`: *"(\\u[dD][c-fC-F][0-9a-fA-F]{2})`)
)

// halfBytes are those of an escape.
const halfBytes = len(`\u0000`)

// join puts the half that the chunk before ended with into this one, and takes off one that this ends with.
func (h *halves) join(data []byte) []byte {
	if h.first == nil && !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return data
	}
	if at := halfAtBegin.FindSubmatchIndex(data); at != nil && h.first != nil {
		data = bytes.Join([][]byte{data[:at[2]], data[at[2]:]}, h.first)
	}
	h.first = nil
	if at := halfAtEnd.FindIndex(data); at != nil && escapes(data, at[0]) {
		h.first = bytes.Clone(data[at[0] : at[0]+halfBytes])
		data = bytes.Join([][]byte{data[:at[0]], data[at[0]+halfBytes:]}, nil)
	}
	return data
}

// escapes says whether the backslash at a place begins an escape, rather than being escaped itself.
func escapes(data []byte, at int) bool {
	before := data[:at]
	return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0
}
