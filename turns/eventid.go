package turns

import (
	"strconv"
	"strings"
)

// numbered gives turn.done an id of its own, for nothing comes after it: its place always has the
// losses, behind a nought.
func numbered(e StreamEvent) StreamEvent {
	if turn, at, err := readPlace(e.ID); err == nil && e.Type == StreamDone {
		losses := at.losses
		at.losses = 0
		e.ID = at.id(turn) + ".0" + strconv.Itoa(losses)
	}
	return e
}

// ofDone says that an id is that of turn.done.
func ofDone(id string) bool {
	parts := strings.Split(id, ".")
	return len(parts) == 5 && strings.HasPrefix(parts[4], "0")
}
