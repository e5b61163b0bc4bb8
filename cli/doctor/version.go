package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// release is the first three numbers of a version.
type release [3]int

// versionOf parses "7.0.15" and "0.8.2-dev". Parts that are no numbers are 0.
func versionOf(text string) release {
	var v release
	for i, part := range strings.SplitN(text, ".", len(v)) {
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			part = part[:digits]
		}
		v[i], _ = strconv.Atoi(part) // 0 if it is no number
	}
	return v
}

func (v release) less(other [3]int) bool { return slices.Compare(v[:], other[:]) < 0 }
