package task

import (
	"context"

	"parlance.dev/parlance/platform/queue"
)

// ReleaseBlobType is the type of the task that deletes a blob without a source.
const ReleaseBlobType = "release_blob"

type releasePayload struct {
	Key string `json:"key"`
}

// ReleaseBlob makes the task; cause distinguishes it from other tasks for the same blob.
func ReleaseBlob(key, cause string) queue.Task {
	return queue.Task{Type: ReleaseBlobType, ID: ReleaseBlobType + ":" + cause, Payload: releasePayload{Key: key}}
}

// HandleReleaseBlob deletes the blob if nothing refers to it.
func HandleReleaseBlob(release func(ctx context.Context, key string) error) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p releasePayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		return release(ctx, p.Key)
	}
}
