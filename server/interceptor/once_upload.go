package interceptor

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
)

// File is what Upload needs of an upload, whose body is never in memory as a whole.
type File interface {
	// Upload reads the rest of the body and describes the file. It does not read a file of more
	// than limit bytes (0: no limit) to its end; it returns nil for it.
	Upload(limit int64) (*idempotency.Upload, error)
}

// UploadParams is an upload with an Idempotency-Key.
type UploadParams struct {
	// Keys are the values of the header.
	Keys []string
	// Operation names the procedure and what it changes.
	Operation string
	File      File
	// Answer is the answer: the work fills it, or it is read from the earlier upload's.
	Answer proto.Message
}

// Upload does the work of an upload, or reads the answer to the same upload of before, and reports
// whether it did that. The file is hashed while the work reads it; when the request is repeated,
// the file is read once more, to tell it from another file under the same key. Only success is
// kept, because a refused file was not read to its end.
func (o *Once) Upload(ctx context.Context, p UploadParams, do func(context.Context) error) (replayed bool, err error) {
	claim, err := o.claimFree(ctx, p.Keys, idempotency.Request{Operation: p.Operation})
	if err != nil {
		return false, err
	}
	if claim.Answer == nil {
		return false, o.work(ctx, claim, keepsNone, func(ctx context.Context) (idempotency.Answer, error) {
			if err := do(ctx); err != nil {
				return idempotency.Answer{}, err
			}
			made, err := answerOf(p.Answer)
			if err != nil {
				return made, err
			}
			made.Upload, err = p.File.Upload(0)
			return made, err
		})
	}
	return true, reread(claim.Answer, p.File, p.Answer)
}

func keepsNone(*fault.Error) bool { return false }

// reread compares the file with that of a stored answer, and reads the answer.
func reread(stored *idempotency.Answer, file File, answer proto.Message) error {
	first := stored.Upload
	if first == nil || len(stored.Messages) != 1 {
		return errors.New("the stored answer of an upload has no file")
	}
	again, err := file.Upload(max(first.Bytes, 1))
	if err != nil {
		return err
	}
	if again == nil || !bytes.Equal(again.Digest, first.Digest) {
		return idempotency.Reused()
	}
	if err := proto.Unmarshal(stored.Messages[0], answer); err != nil {
		return fmt.Errorf("read the stored answer of an upload: %w", err)
	}
	return nil
}
