package live

import (
	"hash/maphash"

	"parlance.dev/parlance/sessions"
)

// roster are the engines of a node by session, in parts of about one size: they are looked at a
// part after the other, and going through all of thousands each time was two percent of the
// processor time of a busy server.
type roster struct {
	seed  maphash.Seed
	parts [heartbeatParts]map[sessions.ID]*engine
}

func newRoster() roster {
	r := roster{seed: maphash.MakeSeed()}
	for part := range r.parts {
		r.parts[part] = map[sessions.ID]*engine{}
	}
	return r
}

// of is the part that has a session, or would.
func (r *roster) of(id sessions.ID) map[sessions.ID]*engine {
	return r.parts[maphash.String(r.seed, string(id))%heartbeatParts]
}
