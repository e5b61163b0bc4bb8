package chunking

import "parlance.dev/parlance/knowledge/document"

// merge joins spans that are too small to stand alone with the neighbour they share more of
// their heading path with, the next one if both are as near.
func (c *chunker) merge(spans []span) []span {
	var out []span
	for i := 0; i < len(spans); i++ {
		current := spans[i]
		for c.isSmall(current) && i+1 < len(spans) && c.prefersNext(out, current, spans[i+1]) {
			i++
			current = c.join(current, spans[i])
		}
		last := len(out) - 1
		switch {
		case !c.isSmall(current):
		case last >= 0 && c.fits(out[last], current):
			out[last] = c.join(out[last], current)
			continue
		case last >= 0:
			out[last], current = c.balance(out[last], current)
		case i+1 < len(spans):
			current, spans[i+1] = c.balance(current, spans[i+1])
		}
		out = append(out, current)
	}
	return out
}

// isSmall allows for the exact count being a little under the sum of the atoms.
func (c *chunker) isSmall(s span) bool {
	return c.tokens(s) < c.options.MinTokens+c.options.MinTokens/10
}

func (c *chunker) fits(left, right span) bool {
	return c.tokens(c.join(left, right)) <= c.options.MaxTokens
}

func (c *chunker) prefersNext(out []span, current, next span) bool {
	if !c.fits(current, next) {
		return false
	}
	if len(out) == 0 || !c.fits(out[len(out)-1], current) {
		return true
	}
	previous := out[len(out)-1]
	return len(commonPath(current.path, next.path)) >= len(commonPath(previous.path, current.path))
}

// join makes one span of two neighbours. What a heading alone is joined to keeps its own path.
func (c *chunker) join(left, right span) span {
	joined := left
	joined.to = right.to
	joined.path = commonPath(left.path, right.path)
	if left.bare && len(joined.path) == len(left.path) {
		joined.path = right.path
	}
	joined.bare = left.bare && right.bare
	return joined
}

// balance moves the cut between two neighbours so that both are large enough, if there is a
// place for it outside code and tables; the cut nearest the middle, between blocks if possible.
func (c *chunker) balance(left, right span) (newLeft, newRight span) {
	joined := c.join(left, right)
	best, bestCost := -1, 0
	for k := left.from + 1; k < right.to; k++ {
		a, b := joined, c.fresh(k)
		a.to, b.to = k, right.to
		sameBlock := c.atoms[k].block == c.atoms[k-1].block
		kind := c.block(k).Kind
		if (sameBlock && (kind == document.Code || kind == document.Table)) || c.block(k-1).Kind == document.Heading ||
			c.isSmall(a) || c.isSmall(b) ||
			c.tokens(a) > c.options.MaxTokens || c.tokens(b) > c.options.MaxTokens {
			continue
		}
		cost := max(c.tokens(a), c.tokens(b))
		if sameBlock {
			cost += c.options.MinTokens
		}
		if best < 0 || cost < bestCost {
			best, bestCost = k, cost
		}
	}
	if best < 0 {
		return left, right
	}
	newLeft, newRight = left, c.fresh(best)
	newLeft.to, newRight.to = best, right.to
	newLeft.path = c.pathOf(newLeft)
	newRight.path = c.pathOf(newRight)
	return newLeft, newRight
}

// pathOf is the path that a span stands under, by the rule of join.
func (c *chunker) pathOf(s span) []string {
	path, bare := c.block(s.from).HeadingPath, true
	for i := s.from; i < s.to; i++ {
		block := c.block(i)
		common := commonPath(path, block.HeadingPath)
		if bare && len(common) == len(path) {
			common = block.HeadingPath
		}
		path, bare = common, bare && block.Kind == document.Heading
	}
	return path
}

// commonPath is the beginning that two paths share.
func commonPath(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
