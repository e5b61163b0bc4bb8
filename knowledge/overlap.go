package knowledge

import (
	"strings"
	"unicode/utf8"
)

// shared is how many bytes of the beginning of next end previous: the match that is nearest to so
// many characters, which they share in the source. A chunk's text may differ from the source's in
// white space; repetitive text matches at other places too.
func shared(previous, next string, characters int) int {
	if characters <= 0 {
		return 0
	}
	limit := min(len(previous), len(next), 4*characters+64)
	known := min(limit, bytesOf(next, characters))
	for off := range max(known, limit-known) + 1 {
		for _, size := range [2]int{known - off, known + off} {
			if size < 1 || size > limit || size < len(next) && !utf8.RuneStart(next[size]) {
				continue
			}
			if strings.HasSuffix(previous, next[:size]) {
				return size
			}
		}
	}
	return 0
}

// bytesOf is how many bytes the first characters of a text have.
func bytesOf(text string, characters int) int {
	for at := range text {
		if characters == 0 {
			return at
		}
		characters--
	}
	return len(text)
}
