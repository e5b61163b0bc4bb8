package memory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/vector"
	"parlance.dev/parlance/workspaces"
)

const (
	// defaultCacheBytes holds the codes of some 1.3 million memories.
	defaultCacheBytes = 96 << 20
	codeWords         = codeBits / 64
	// codedBytes is what a memory takes in the cache.
	codedBytes = 8 + codeBits/8
	// sparePart of what is read is left free for what comes later, and at least spareLeast
	// memories.
	sparePart, spareLeast = 8, 32
)

// A search compares the codes of all memories of a user in the process, which keeps those of the
// users who were searched last, and asks Postgres each time for those that have come since
// (codesSQL). A vector never changes: one that is made anew has another number. Those that are gone
// stay in a process that has read them until a search comes across too many of them; they find
// nothing, since Postgres says of each number what is there.

// codes are those of a user's memories, in the order in which they came to this process.
type codes struct {
	// numbers and words may be shared with others that have more: both are only appended to.
	numbers []int64
	words   []uint64
	// seen is the highest number that was looked at.
	seen int64
}

// codesKey is whose codes, made of which model's vectors.
type codesKey struct {
	ref   workspaces.Ref
	user  string
	model string
}

// codesSQL reads codes that came after a number, each as its number, the length of the code and the
// code; and whether there are memories without a vector of the model.
const codesSQL = `
SELECT (
           SELECT string_agg(int8send(v.number) || bit_send(v.code), ''::bytea)
           FROM memory_vectors AS v
           WHERE v.workspace_id = ?
             AND v.user_id = ?
             AND v.model = ?
             AND v.number > ?
       ),
       EXISTS (
           SELECT
           FROM memory_embeddings_due AS d
           WHERE d.workspace_id = ?
             AND d.user_id = ?
       ) OR EXISTS (
           SELECT
           FROM memory_vectors AS o
           WHERE o.workspace_id = ?
             AND o.user_id = ?
             AND (o.model < ? OR o.model > ?)
       )`

// codesOf are the codes of all memories of a user that have a vector of the model now, and whether
// there are others.
func (s *Service) codesOf(ctx context.Context, ref workspaces.Ref, userID, model string) (codes, bool, error) {
	key := codesKey{ref, userID, model}
	known, _ := s.codes.Get(key)
	var packed []byte
	var others bool
	err := s.db.Binary(ctx, s.db.NewRaw(codesSQL, ref.ID, userID, model, known.seen, ref.ID, userID, ref.ID, userID,
		model, model), &packed, &others)
	if err != nil {
		return codes{}, false, fmt.Errorf("read codes of memories: %w", err)
	}
	if len(packed) == 0 {
		return known, others, nil
	}
	grown, err := s.keepCodes(key, known, packed)
	return grown, others, err
}

// keepCodes adds to the cached codes what codesSQL has read after known.
func (s *Service) keepCodes(key codesKey, known codes, packed []byte) (codes, error) {
	s.growing.Lock()
	defer s.growing.Unlock()
	// Only the cached codes are appended to in place, under the lock; another call may have added
	// some.
	base := codes{slices.Clip(known.numbers), slices.Clip(known.words), known.seen}
	if current, ok := s.codes.Get(key); ok && current.seen >= known.seen {
		base = current
	}
	grown, err := base.with(packed)
	if err != nil {
		return codes{}, err
	}
	s.codes.Set(key, grown)
	return grown, nil
}

// bytes is what the codes take in the cache.
func (c codes) bytes() int { return codedBytes * cap(c.numbers) }

// with is c and those of packed that came later.
func (c codes) with(packed []byte) (codes, error) {
	const head = 8 + 4 // the number, and the length of the code in bits
	const each = head + codeBits/8
	if len(packed)%each != 0 {
		return codes{}, errors.New("codes of memories are not as they should be")
	}
	if wanted := len(c.numbers) + len(packed)/each; cap(c.numbers) < wanted || cap(c.words) < codeWords*wanted {
		room := wanted + max(wanted/sparePart, spareLeast)
		c.numbers = append(make([]int64, 0, room), c.numbers...)
		c.words = append(make([]uint64, 0, codeWords*room), c.words...)
	}
	before := c.seen
	for at := 0; at < len(packed); at += each {
		number := int64(binary.BigEndian.Uint64(packed[at:])) //nolint:gosec // as Postgres sends it
		if number <= before {
			continue
		}
		c.seen = max(c.seen, number)
		c.numbers = append(c.numbers, number)
		for word := range codeWords {
			c.words = append(c.words, binary.BigEndian.Uint64(packed[at+head+8*word:]))
		}
	}
	return c, nil
}

// expected is a user whose memories are wanted soon, in a prompt that has room for so many tokens.
type expected struct {
	codesKey
	tokens int
}

// Expect says that this user will speak soon: Run reads what Recall gives, and when there is more
// the codes for a search, if it has time.
func (s *Service) Expect(ref workspaces.Ref, userID string, tokens int) {
	select {
	case s.expected <- expected{codesKey{ref, userID, s.embedder.Model().Name}, tokens}:
	default: // the turn reads them
	}
}

// expectedMost is how many users wait for their codes to be read.
const expectedMost = 64

func (s *Service) readExpected(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-s.expected:
			if err := s.readAhead(ctx, one); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "memories not read ahead", telemetry.KeyWorkspaceID, string(one.ref.ID), telemetry.KeyError, err)
			}
		}
	}
}

func (s *Service) readAhead(ctx context.Context, one expected) error {
	recalled, err := s.Recall(ctx, one.ref, one.user, one.tokens)
	if err != nil || !recalled.More {
		return err
	}
	if _, there := s.codes.Get(one.codesKey); there {
		return nil
	}
	_, _, err = s.codesOf(ctx, one.ref, one.user, one.model)
	return err
}

// nearest returns the numbers, in order, of the memories whose codes differ least from the
// question's, at most limit.
func (c codes) nearest(question code, limit int) []int64 {
	if len(c.numbers) <= limit {
		return c.numbers
	}
	top := vector.NewTop(limit)
	for i := range c.numbers {
		differing := 0
		for j, word := range c.words[codeWords*i : codeWords*(i+1)] {
			differing += bits.OnesCount64(word ^ question[j])
		}
		top.Add(float64(-differing), i)
	}
	numbers := make([]int64, 0, limit)
	for _, one := range top.Sorted() {
		numbers = append(numbers, c.numbers[one.Place])
	}
	slices.Sort(numbers)
	return numbers
}
