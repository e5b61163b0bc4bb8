package rpc

import (
	"parlance.dev/parlance/conversation"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

var turnItemKinds = map[conversation.ItemKind]string{
	conversation.UserItem: "user", conversation.AssistantItem: "assistant", conversation.SystemItem: "system",
	conversation.ToolItem: "function_call", conversation.ClientToolCallItem: "function_call",
	conversation.ToolOutputItem: "function_call_output",
}

func turnItemProto(i conversation.NotedItem) *parlancev1.TurnItem {
	item := &parlancev1.TurnItem{
		Id: i.ID, Kind: turnItemKinds[i.Kind], Text: i.Text, CallId: i.CallID, Name: i.Name, PutIn: i.Put,
		PreviousItemId: i.After, Removed: i.Removed,
	}
	if i.Audio != nil {
		item.Spoken, item.AudioMs = true, int32Of(i.Audio.LengthMS)
	}
	if i.Cut != nil {
		item.Heard = &parlancev1.TurnItemHeard{AudioEndMs: int32Of(i.Cut.AudioEndMS), Text: i.Cut.Text}
	}
	return item
}
