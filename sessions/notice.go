package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"
)

// NotifyChannel is the Postgres channel for notices between nodes.
const NotifyChannel = "parlance_sessions"

// noticeKind is the subject of a notice.
type noticeKind string

// The kinds of notices.
const (
	NoticeJoined  noticeKind = "joined"  // a socket has joined and replaces the older one of its channel
	NoticeEnding  noticeKind = "ending"  // the session is to end: its running turn must stop
	NoticeEnded   noticeKind = "ended"   // the session is closed
	NoticeResume  noticeKind = "wanted"  // a turn is to be resumed, because its node is lost or shuts down
	NoticeCancel  noticeKind = "cancel"  // the response in progress must stop
	NoticeItem    noticeKind = "item"    // a client removed or cut an item
	NoticeStop    noticeKind = "stop"    // one turn must stop
	NoticeFollow  noticeKind = "follow"  // one turn is followed through its row
	NoticeNews    noticeKind = "news"    // the row of a followed turn has changed
	NoticeTurn    noticeKind = "turn"    // one turn has been recorded
	NoticeDecided noticeKind = "decided" // an approval of the session was decided
	// NoticeHandover: a person was asked for, has taken the session over or given it back.
	NoticeHandover noticeKind = "handover"
)

// Notice is the payload of a notification. It only names rows; a receiver reads them.
type Notice struct {
	Kind    noticeKind `json:"k"`
	Session ID         `json:"s"`
	Channel Channel    `json:"c,omitempty"`
	Number  int64      `json:"n,omitempty"`
	// From is the node that sent the notice, when that node can ignore it.
	From string `json:"f,omitempty"`
	Turn TurnID `json:"t,omitempty"`
}

// Notify sends the notice when tx commits.
func Notify(ctx context.Context, tx bun.IDB, n Notice) error {
	payload, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encoding notice: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", NotifyChannel, string(payload)); err != nil {
		return fmt.Errorf("notifying nodes: %w", err)
	}
	return nil
}
