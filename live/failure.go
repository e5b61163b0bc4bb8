package live

import (
	"errors"

	"parlance.dev/parlance/fault"
)

// ErrNothingToCancel is the cause of Failed for a Cancel when no such answer is in progress.
var ErrNothingToCancel = errors.New("no answer is in progress")

// The causes of Failed for commands about items.
var (
	// ErrNoPlace: After names no item of the conversation.
	ErrNoPlace = errors.New("no such item to insert after")
	// ErrItemTaken: another item has the id.
	ErrItemTaken = errors.New("the item id is taken")
	// ErrNothingToRetrieve: no item has the id.
	ErrNothingToRetrieve = errors.New("no such item to retrieve")
	// ErrNothingToRemove: no item has the id.
	ErrNothingToRemove = errors.New("no such item to remove")
	// ErrNothingToTruncate: no item has the id.
	ErrNothingToTruncate = errors.New("no such item to truncate")
)

// ErrNoReference is the cause of Failed for an InputItem that refers to no item.
var ErrNoReference = errors.New("no such item to refer to")

// ErrNoCall is the cause of Failed for an InputItem that is the result of a call which is not in
// the Input.
var ErrNoCall = errors.New("no such call to answer")

// ErrNoAudio is the cause of Failed for an AudioCommit without enough audio.
var ErrNoAudio = errors.New("no audio to commit")

func errItemTaken() *fault.Error {
	return fault.Wrap(ErrItemTaken, fault.InvalidRequest, "There is an item with that id already.")
}
