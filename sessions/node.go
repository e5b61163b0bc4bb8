package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// Channel is the Postgres channel on which the nodes tell each other of ends and of sockets that
// took over.
const Channel = "parlance_sessions"

const (
	// connectionLife is how long a socket counts as there without a heartbeat of its node.
	connectionLife = 35 * time.Second
)

// noticeKind is what a notice is about.
type noticeKind string

const (
	NoticeJoined noticeKind = "joined" // a socket has joined: older ones of its channel are replaced
	NoticeEnding noticeKind = "ending" // the turn that runs is to be stopped
	NoticeEnded  noticeKind = "ended"  // the session is closed
	NoticeWanted noticeKind = "wanted" // a turn waits for an answer that its node does not give any more
	NoticeCancel noticeKind = "cancel" // the answer that is going out is to be stopped
	NoticeItem   noticeKind = "item"   // a client removed or cut an item
	NoticeStop   noticeKind = "stop"   // this one turn is to be stopped
	NoticeFollow noticeKind = "follow" // this one turn is followed by its row
	NoticeNews   noticeKind = "news"   // this one turn's row has changed
	NoticeTurn   noticeKind = "turn"   // this one turn has been recorded
	// noticeDecided: somebody has said whether a call of the session may be made.
	NoticeDecided noticeKind = "decided"
)

// notice is the payload of a notification. It names; whoever gets it reads the row.
type Notice struct {
	Kind    noticeKind  `json:"k"`
	Session ID          `json:"s"`
	Channel LiveChannel `json:"c,omitempty"`
	Number  int64       `json:"n,omitempty"`
	// From is the node that sent it, where that one need not hear it.
	From string `json:"f,omitempty"`
	Turn TurnID `json:"t,omitempty"`
}

// notify sends the notice when tx commits.
func Notify(ctx context.Context, tx bun.IDB, n Notice) error {
	payload, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encoding notice: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", Channel, string(payload)); err != nil {
		return fmt.Errorf("notifying nodes: %w", err)
	}
	return nil
}
