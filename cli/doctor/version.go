package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// release is a version's first three numbers.
type release [3]int

// versionOf reads "7.0.15" and "0.8.2-dev"; what is no number is 0.
func versionOf(text string) release {
	var v release
	for i, part := range strings.SplitN(text, ".", len(v)) {
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			part = part[:digits]
		}
		v[i], _ = strconv.Atoi(part) // no number: 0
	}
	return v
}

func (v release) less(other [3]int) bool { return slices.Compare(v[:], other[:]) < 0 }
