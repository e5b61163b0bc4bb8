package parlance

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// pageSize is the largest page that the service gives.
const pageSize = 200

// Page is an answer that lists items: every answer of the contract with a next_page_token.
type Page[Item any] interface {
	PageItems() []Item
	GetNextPageToken() string
}

// All reads a list to its end, a page at a time, as far as the loop goes:
//
//	request := &parlancev1.ListAgentsRequest{WorkspaceId: workspace}
//	for agent, err := range parlance.All(ctx, client.Agents.ListAgents, request) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// It begins at the request's page_token and leaves the request as it is. Pages have 200 items
// unless the request says otherwise. An error is the last that the loop gets.
func All[Request proto.Message, Answer Page[Item], Item any](
	ctx context.Context, list func(context.Context, Request) (Answer, error), request Request,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var none Item
		next := proto.CloneOf(request)
		fields := next.ProtoReflect().Descriptor().Fields()
		if size := fields.ByName("page_size"); size != nil && !next.ProtoReflect().Has(size) {
			next.ProtoReflect().Set(size, protoreflect.ValueOfInt32(pageSize))
		}
		for {
			page, err := list(ctx, next)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range page.PageItems() {
				if !yield(item, nil) {
					return
				}
			}
			token := fields.ByName("page_token")
			if page.GetNextPageToken() == "" || token == nil {
				return
			}
			next.ProtoReflect().Set(token, protoreflect.ValueOfString(page.GetNextPageToken()))
		}
	}
}
