package knowledge

import (
	"context"
	"slices"

	"parlance.dev/parlance/platform/shelf"
	"parlance.dev/parlance/workspaces"
)

// textShelf remembers chunks as turns have read them, without what they scored. A set of chunks never changes and
// nothing gives a source another name, so what lies there is so for as long as its number is asked for.
type textShelf = shelf.Shelf[textKey]

// textKey is a place in a set of chunks.
type textKey struct {
	number int64
	index  int
	// model is that of the chunk's vector.
	model string
}

// textOverhead is about what a chunk takes beside its text: its numbers and ids.
const textOverhead = 600

// textsOf are hits among resident sources with their texts, in their order: from memory, and those that are not there as
// askFound reads them. Fewer than the hits: a source was replaced meanwhile.
func (s *Service) textsOf(ctx context.Context, ref workspaces.Ref, hits []hit, sources []*resident, model string) ([]Found, error) {
	found, keys := make([]Found, len(hits)), make([]textKey, len(hits))
	var missing []hit
	var places []int
	for i, one := range hits {
		at := slices.IndexFunc(sources, func(r *resident) bool { return r.SourceID == one.SourceID })
		keys[i] = textKey{sources[at].Number, one.Index, model}
		if kept, there := s.texts.Get(keys[i]); there {
			found[i] = *kept.(*Found) //nolint:forcetypeassert,errcheck // nothing else is put there
			found[i].Similarity, found[i].Scores = one.Similarity, one.Scores
		} else {
			missing, places = append(missing, one), append(places, i)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	read, err := s.askFound(ctx, ref, missing)
	if err != nil || len(read) < len(missing) {
		return nil, err
	}
	for i, one := range read {
		one.words = wordsIn(one.Content)
		found[places[i]] = one
		one.Similarity, one.Scores = 0, Scores{}
		s.texts.Put(keys[places[i]], &one, textOverhead+len(one.Content)+len(one.Heading)+8*cap(one.words))
	}
	return found, nil
}
