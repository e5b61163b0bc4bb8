package conversation

import (
	"fmt"

	"parlance.dev/parlance/platform/postgres"
)

// pastStep is the first page of readPast, behind the turns that are summarised. The messages of turns whose rows are as
// this node has them are not read: whatever changes a row, on whichever node, gives it another version (xmin, the
// transaction that wrote it).
func (s *Service) pastStep(session Session, known *foreknown, had []pastTurn) postgres.Step {
	first, versions := versionsOf(had)
	return postgres.Step{
		SQL: `
			SELECT t.id, t.index, t.status, t.xmin, CASE WHEN t.status = 'in_progress' OR t.xmin = ($5::int4[])[t.index - $4::int4 + 1] THEN NULL ELSE t.messages END
			FROM turns AS t
			JOIN sessions AS s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
			WHERE t.tenant_id = $1 AND t.session_id = $2 AND t.index >= s.summarized_turns
			ORDER BY t.index DESC
			LIMIT $3`,
		Args: []any{string(session.TenantID), string(session.ID), historyPage, first, versions},
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

// versionsOf are the versions of rows by the places of their turns in the session, from a first one on; 0: it is not
// known. They are written as Postgres's integers are, which have a sign, because versions have no arrays of their own.
func versionsOf(had []pastTurn) (first int, versions []int64) {
	if len(had) == 0 {
		return 0, nil
	}
	last := 0
	for _, turn := range had {
		last = max(last, turn.index)
	}
	first = max(0, last+1-historyPage)
	versions = make([]int64, last+1-first)
	for _, turn := range had {
		if turn.index >= first {
			versions[turn.index-first] = int64(int32(turn.row)) //nolint:gosec // meant
		}
	}
	return first, versions
}

// fill gives a turn its messages: those that were read, or had when its row is the same.
func (t *pastTurn) fill(read []byte, had []pastTurn) error {
	if t.status == TurnInProgress {
		return nil
	}
	if read == nil {
		for _, one := range had {
			if one.id == t.id && one.row == t.row {
				t.messages, t.tokens = one.messages, one.tokens
				return nil
			}
		}
		return fmt.Errorf("turn %s came without its messages", t.id)
	}
	if err := readJSON(column{read, &t.messages}); err != nil {
		return err
	}
	t.tokens = tokensOfTurn(t.messages)
	return nil
}
