package chunking

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/knowledge/document"
)

// Options says how large chunks are, in cl100k_base tokens. Zero fields take the
// defaults. Source: decisions, Knowledge base.
type Options struct {
	// MaxTokens is the most a chunk holds: default 512, at least 32.
	MaxTokens int
	// Overlap is how much of a chunk's end the next one of the same section repeats: default
	// 64, at most a quarter of MaxTokens; negative means none.
	Overlap int
	// MinTokens is what a chunk must hold to stand alone: default 80, at most a quarter of
	// MaxTokens.
	MinTokens int
	// MaxChunks is the most a document may have: default 10,000.
	MaxChunks int
}

// Chunk is the unit that is embedded and found.
type Chunk struct {
	// Index counts from 0 in reading order.
	Index int
	// Content is Document.Text from CharStart to CharEnd, exactly.
	Content string
	// TokenCount of Content, at most MaxTokens.
	TokenCount int
	// Heading is the path of the headings that all of the chunk stands under, "A > B"; may be
	// empty.
	Heading string
	// PageStart and PageEnd are 1-based; 0 where the format has no pages.
	PageStart, PageEnd int
	// CharStart and CharEnd count characters (code points), end exclusive. Chunks of one
	// section overlap.
	CharStart, CharEnd int
}

// normal fills in defaults and brings the rest into range.
func (o Options) normal() Options {
	o.MaxTokens = max(cmp.Or(o.MaxTokens, 512), 32)
	o.Overlap = min(max(cmp.Or(o.Overlap, 64), 0), o.MaxTokens/4)
	o.MinTokens = min(max(cmp.Or(o.MinTokens, 80), 0), o.MaxTokens/4)
	o.MaxChunks = cmp.Or(o.MaxChunks, 10_000)
	return o
}

// Cut divides a document at headings, then paragraphs, then sentences; tables between rows and
// code between lines, and only where they do not fit whole. Small chunks are merged with a
// neighbour, across headings too; one stays small only when the document is, or when the
// neighbours are full with code or tables. It takes linear time.
// Errors: *Error TooManyChunks, Empty.
func Cut(doc document.Document, options Options) ([]Chunk, error) {
	c := chunker{doc: doc, options: options.normal()}
	if err := c.cut(); err != nil {
		return nil, err
	}
	spans, err := c.pack()
	if err != nil {
		return nil, err
	}
	chunks, err := c.finish(c.merge(spans))
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, &document.Error{Kind: document.Empty, Message: "The document holds no text."}
	}
	return chunks, nil
}

// chunker is one run. All its offsets are bytes of doc.Text.
type chunker struct {
	doc     document.Document
	options Options
	atoms   []atom
	// sums[i] is the tokens of the atoms before i; token counts are taken as additive here,
	// finish counts exactly.
	sums []int
}

// atom is the smallest piece that is never cut: a sentence, a row, a line, a heading.
type atom struct {
	start, end int // end includes the white space after it
	block      int
}

// span is a chunk in the making: atoms [from, to), begun at start, which is before its first
// atom when it repeats the end of the span before.
type span struct {
	from, to      int
	start         int
	overlapTokens int
	path          []string
	bare          bool // headings only
}

func (c *chunker) tokens(s span) int { return s.overlapTokens + c.sums[s.to] - c.sums[s.from] }

func (c *chunker) block(atom int) document.Block { return c.doc.Blocks[c.atoms[atom].block] }

// pack fills spans section by section. Headings with nothing of their own go with the section
// below them, so that a title is not a chunk.
func (c *chunker) pack() ([]span, error) {
	var spans []span
	for from, to := 0, 0; to < len(c.atoms); {
		path := c.block(to).HeadingPath
		bare := true
		for to < len(c.atoms) && slices.Equal(path, c.block(to).HeadingPath) {
			bare = bare && c.block(to).Kind == document.Heading
			to++
		}
		if bare && to < len(c.atoms) && len(commonPath(path, c.block(to).HeadingPath)) == len(path) {
			continue
		}
		spans = append(spans, c.packSection(from, to, path)...)
		// Merging can halve the number and more, but not a hundredfold.
		if len(spans) > 100*c.options.MaxChunks {
			return nil, c.tooMany()
		}
		from = to
	}
	return spans, nil
}

// packSection packs atoms [from, to) of one section, whole blocks where they fit.
func (c *chunker) packSection(from, to int, path []string) []span {
	var spans []span
	current := c.fresh(from)
	add := func(upTo int) {
		if current.to > current.from && c.tokens(current)+c.sums[upTo]-c.sums[current.to] > c.options.MaxTokens {
			spans = append(spans, current)
			current = c.following(current, upTo)
		}
		current.to = upTo
	}
	for i := from; i < to; {
		end := i + 1
		for end < to && c.atoms[end].block == c.atoms[i].block {
			end++
		}
		size := c.sums[end] - c.sums[i]
		fits := c.tokens(current)+size <= c.options.MaxTokens
		kind := c.block(i).Kind
		whole := size <= c.options.MaxTokens &&
			(c.tokens(current) >= c.options.MinTokens || kind == document.Code || kind == document.Table)
		if fits || whole {
			add(end)
			i = end
			continue
		}
		for ; i < end; i++ {
			add(i + 1)
		}
	}
	spans = append(spans, current)
	for i := range spans {
		spans[i].path = path
		spans[i].bare = c.block(spans[i].to-1).Kind == document.Heading // headings only begin sections
	}
	return spans
}

// fresh begins an empty span at an atom.
func (c *chunker) fresh(from int) span {
	return span{from: from, to: from, start: c.atoms[from].start, path: c.block(from).HeadingPath}
}

// following begins the span after a full one, repeating its end if that leaves room for the
// atoms up to upTo.
func (c *chunker) following(full span, upTo int) span {
	next := c.fresh(full.to)
	room := min(c.options.Overlap, c.options.MaxTokens-(c.sums[upTo]-c.sums[full.to]))
	k := full.to
	for k-1 > full.from && c.sums[full.to]-c.sums[k-1] <= room {
		k--
	}
	if k < full.to {
		next.start, next.overlapTokens = c.atoms[k].start, c.sums[full.to]-c.sums[k]
		return next
	}
	last := c.atoms[full.to-1]
	if kind := c.block(full.to - 1).Kind; kind == document.Paragraph || kind == document.List {
		next.start, next.overlapTokens = c.tail(last, room)
	}
	return next
}

// finish turns spans into chunks, counting exactly.
func (c *chunker) finish(spans []span) ([]Chunk, error) {
	if len(spans) > c.options.MaxChunks {
		return nil, c.tooMany()
	}
	chunks := make([]Chunk, 0, len(spans))
	starts, ends := charCounter{text: c.doc.Text}, charCounter{text: c.doc.Text}
	pending := make([]span, 0, 8)
	for _, s := range spans {
		pending = append(pending[:0], s)
		for len(pending) > 0 {
			s := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			content, start := c.content(s)
			if content == "" {
				continue
			}
			count, err := countTokens(content)
			if err != nil {
				return nil, err
			}
			if count > c.options.MaxTokens && (s.overlapTokens > 0 || s.to-s.from > 1) {
				pending = append(pending, c.smaller(s)...)
				continue
			}
			chunks = append(chunks, Chunk{
				Index: len(chunks), Content: content, TokenCount: count, Heading: strings.Join(s.path, " > "),
				PageStart: c.block(s.from).Page, PageEnd: c.block(s.to - 1).Page,
				CharStart: starts.at(start), CharEnd: ends.at(start + len(content)),
			})
		}
	}
	if len(chunks) > c.options.MaxChunks {
		return nil, c.tooMany()
	}
	return chunks, nil
}

// smaller replaces a span whose exact count is over the limit, last part first: without its
// overlap, else in halves.
func (c *chunker) smaller(s span) []span {
	if s.overlapTokens > 0 {
		s.start, s.overlapTokens = c.atoms[s.from].start, 0
		return []span{s}
	}
	left, right := s, s
	left.to = (s.from + s.to) / 2
	right.from, right.start = left.to, c.atoms[left.to].start
	return []span{right, left}
}

// content is the text of a span and where it begins: without blank lines before it and white
// space after it.
func (c *chunker) content(s span) (string, int) {
	raw := c.doc.Text[s.start:c.atoms[s.to-1].end]
	content := document.TrimBlankLines(raw)
	lead := len(strings.TrimRightFunc(raw, document.IsSpace)) - len(content)
	return content, s.start + lead
}

func (c *chunker) tooMany() *document.Error {
	return &document.Error{
		Kind:    document.TooManyChunks,
		Message: fmt.Sprintf("The document is too long: it makes more than %d chunks. Split it.", c.options.MaxChunks),
	}
}

// charCounter turns ascending byte offsets into character offsets.
type charCounter struct {
	text        string
	byte, chars int
}

func (c *charCounter) at(offset int) int {
	c.chars += utf8.RuneCountInString(c.text[c.byte:offset])
	c.byte = offset
	return c.chars
}
