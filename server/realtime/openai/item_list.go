package openai

import (
	"slices"

	"parlance.dev/parlance/sessions"
)

// maxItems bounds what a socket keeps for conversation.item.retrieve.
const maxItems = 1000

// items is the newest items of a socket, as the client sees them.
type items struct {
	byID map[string]any
	// order is the ids in the conversation's order.
	order []string
	// changing are the items that the client asked to delete or to truncate. What became of them
	// the conversation knows.
	changing map[string]bool
}

// isApprovalRequest reports whether an item asks whether a call may be made. The conversation knows
// the request, but not as an item.
func (s *items) isApprovalRequest(id string) bool {
	_, is := s.byID[id].(approvalRequestItem)
	return is
}

// conversationItem is the item with this id, or for an approval request the item before it that the
// conversation knows.
func (s *items) conversationItem(id string) string {
	if !s.isApprovalRequest(id) {
		return id
	}
	for at := slices.Index(s.order, id) - 1; at >= 0; at-- {
		if !s.isApprovalRequest(s.order[at]) {
			return s.order[at]
		}
	}
	return sessions.AtFront
}

// markChanging notes that the client asked to change an item.
func (s *items) markChanging(id string) {
	if _, known := s.byID[id]; !known || s.isApprovalRequest(id) {
		return
	}
	if s.changing == nil {
		s.changing = map[string]bool{}
	}
	s.changing[id] = true
}

// current is an item that is known without asking the conversation.
func (s *items) current(id string) (item any, known bool) {
	item, known = s.byID[id]
	return item, known && !s.changing[id]
}

// put keeps an item, or a newer form of it.
func (s *items) put(id string, item any) {
	if s.byID == nil {
		s.byID = map[string]any{}
	}
	if _, known := s.byID[id]; !known {
		s.order = append(s.order, id)
	}
	s.byID[id] = item
	if len(s.order) > maxItems {
		delete(s.byID, s.order[0])
		delete(s.changing, s.order[0])
		s.order = s.order[1:]
	}
}

// insert keeps an item behind the previous one, which is empty for the first place. Behind an
// unknown previous item it becomes the last.
func (s *items) insert(id, previous string, item any) {
	_, known := s.byID[id]
	s.put(id, item)
	at := slices.Index(s.order, previous) + 1
	if known || (at == 0 && previous != "") || at >= len(s.order)-1 {
		return
	}
	s.order = slices.Insert(s.order[:len(s.order)-1], at, id)
}

func (s *items) remove(id string) {
	delete(s.byID, id)
	delete(s.changing, id)
	s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
}

// last is the id of the last item, or empty.
func (s *items) last() string {
	if len(s.order) == 0 {
		return ""
	}
	return s.order[len(s.order)-1]
}
