package knowledge

import (
	"time"

	"parlance.dev/parlance/platform/shelf"
)

const (
	// defaultCacheBytes holds fifty thousand chunks with all that a search needs, and beside these the codes of a million.
	defaultCacheBytes = 256 << 20
	// residentIdle is how long nobody has asked for a source before another takes its place in memory. Reading one
	// costs as much as some tens of searches: those that do not fit all at once must not chase each other out.
	residentIdle = 10 * time.Minute
)

// sourceShelf remembers what searches read of sources. What lies on it never changes: a new set of chunks has a new
// number. Which numbers an agent may see is asked in each search, so the shelf need not know whose they are.
type sourceShelf = shelf.Shelf[shelfKey]

// shelfKey is a page of a source's postings, or one of the places below.
type shelfKey struct {
	number int64
	page   int
	// model is that of codes.
	model string
}

// What is not a page has a number of its own.
const (
	lengthsPage = -1
	codesPage   = -2
)
