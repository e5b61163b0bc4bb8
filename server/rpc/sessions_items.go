package rpc

import (
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
)

var turnItemKinds = map[sessions.ItemKind]string{
	sessions.UserItem: "user", sessions.AssistantItem: "assistant", sessions.SystemItem: "system",
	sessions.ToolItem: "function_call", sessions.ClientToolCallItem: "function_call", sessions.ToolOutputItem: "function_call_output",
}

func turnItemProto(i sessions.TranscriptItem) *parlancev1.TurnItem {
	item := &parlancev1.TurnItem{
		Id: i.ID, Kind: turnItemKinds[i.Kind], Text: i.Text, CallId: i.CallID, Name: i.Name, PutIn: i.Inserted,
		PreviousItemId: i.After, Removed: i.Removed,
	}
	switch {
	case i.Note:
		item.Kind = "operator_note"
	case i.Operator != "":
		item.Kind = "operator"
	}
	if i.Audio != nil {
		item.Spoken, item.AudioMs = true, int32Of(i.Audio.LengthMS)
	}
	if i.Cut != nil {
		item.Heard = &parlancev1.TurnItemHeard{AudioEndMs: int32Of(i.Cut.AudioEndMS), Text: i.Cut.Text}
	}
	return item
}
