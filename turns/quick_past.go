package turns

import (
	"fmt"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
)

// pastStep is the first page of readPast, behind the turns that are summarised. The messages of turns whose rows are as
// this node has them are not read: whatever changes a row, on whichever node, gives it another version (xmin, the
// transaction that wrote it).
func (s *Service) pastStep(session sessions.Session, known *Known, turns []pastTurn) postgres.Step {
	had := newHadPast(turns)
	known.pageSize = historyPage + len(turns) // there may be as many that are new
	return postgres.Step{
		SQL: `
			SELECT t.id, t.index, t.status, t.xmin, CASE WHEN t.status = 'in_progress' OR t.xmin = ($5::int4[])[t.index - $4::int4 + 1] THEN NULL ELSE t.messages END
			FROM turns AS t
			JOIN sessions AS s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
			WHERE t.tenant_id = $1 AND t.session_id = $2 AND t.index >= s.summarized_turns
			ORDER BY t.index DESC
			LIMIT $3`,
		Args: []any{string(session.TenantID), string(session.ID), known.pageSize, had.first, had.versions},
		Row: func(scan func(into ...any) error) error {
			var turn pastTurn
			var messages []byte
			if err := scan((*string)(&turn.id), &turn.index, (*string)(&turn.status), &turn.row, &messages); err != nil {
				return err
			}
			if err := turn.fill(messages, had); err != nil {
				return err
			}
			known.page = append(known.page, turn)
			return nil
		},
	}
}

// hadPast are the turns that a node has, by their places in the session from a first one on; they follow each other,
// mostly.
type hadPast struct {
	first int
	turns []pastTurn
	// versions are those of the rows, 0 where it is not known. They are written as Postgres's integers are, which have a
	// sign, because versions have no arrays of their own.
	versions []int64
}

func newHadPast(turns []pastTurn) (had hadPast) {
	last := -1
	for _, turn := range turns {
		last = max(last, turn.index)
	}
	had.first = max(0, last+1-len(turns))
	had.turns, had.versions = make([]pastTurn, last+1-had.first), make([]int64, last+1-had.first)
	for _, turn := range turns {
		if at := turn.index - had.first; at >= 0 {
			had.turns[at], had.versions[at] = turn, int64(int32(turn.row)) //nolint:gosec // meant
		}
	}
	return had
}

// fill gives a turn its messages: those that were read, or had when its row is the same.
func (t *pastTurn) fill(read []byte, had hadPast) error {
	if t.status == sessions.TurnInProgress {
		return nil
	}
	if read == nil {
		at := t.index - had.first
		if at < 0 || at >= len(had.turns) || had.turns[at].id != t.id || had.turns[at].row != t.row {
			return fmt.Errorf("turn %s came without its messages", t.id)
		}
		t.messages, t.tokens = had.turns[at].messages, had.turns[at].tokens
		return nil
	}
	if err := readJSON(column{read, &t.messages}); err != nil {
		return err
	}
	t.tokens = tokensOfAll(t.messages)
	return nil
}
