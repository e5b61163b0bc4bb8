package task

import (
	"context"

	"parlance.dev/parlance/platform/queue"
)

// ReleaseBlobType is the type of the task that deletes a blob nobody refers to any more.
const ReleaseBlobType = "release_blob"

// BlobReleaser is package knowledge (app joins the two).
type BlobReleaser interface {
	// ReleaseBlob deletes the blob if nothing refers to it.
	ReleaseBlob(ctx context.Context, key string) error
}

type releasePayload struct {
	Key string `json:"key"`
}

// ReleaseBlob makes the task; cause tells it from other tasks for the same blob.
func ReleaseBlob(key, cause string) queue.Task {
	return queue.Task{Type: ReleaseBlobType, ID: ReleaseBlobType + ":" + cause, Payload: releasePayload{Key: key}}
}

// HandleReleaseBlob deletes.
func HandleReleaseBlob(blobs BlobReleaser) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p releasePayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		return blobs.ReleaseBlob(ctx, p.Key)
	}
}
