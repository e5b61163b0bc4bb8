package interceptor

import (
	"bytes"
	"errors"
	"net/http"

	"parlance.dev/parlance/idempotency"
)

// uploadForm marks the requests whose fingerprint is not their body's.
const uploadForm = "upload"

// File is what WrapUpload asks of an upload, whose body nobody holds in memory.
type File interface {
	// Upload reads what is left of the body and says what the file was. A file of more than limit
	// bytes (0: no limit) is not read to its end; it gives nil.
	Upload(limit int64) (*idempotency.Upload, error)
}

// WrapUpload is Wrap for a file: it is hashed while the work reads it, and a repetition is told
// from another file under the same key by reading it once more. Only success is kept: a refused
// file was not read to its end. What keeps next from being called is returned, not written.
func (o *Once) WrapUpload(w http.ResponseWriter, r *http.Request, file File, next http.Handler) error {
	claim, err := o.begin(r, nil, uploadForm)
	if err != nil {
		return err
	}
	if claim.Answer == nil {
		answer := &uploadAnswer{heldAnswer: heldAnswer{header: w.Header()}, file: file}
		o.work(answer, r, claim, next)
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body.Bytes()) // the caller is gone when this fails; the answer waits for it
		return nil
	}
	first := claim.Answer.Upload
	if first == nil {
		return errors.New("an upload's answer without its file")
	}
	again, err := file.Upload(max(first.Bytes, 1))
	if err != nil {
		return err
	}
	if again == nil || !bytes.Equal(again.Digest, first.Digest) {
		return idempotency.Reused()
	}
	replay(w, *claim.Answer)
	return nil
}

// uploadAnswer is a heldAnswer that knows the file it is about.
type uploadAnswer struct {
	heldAnswer
	file File
}

func (a *uploadAnswer) outcome() (idempotency.Answer, bool) {
	answer, _ := a.heldAnswer.outcome()
	if answer.Status >= http.StatusBadRequest {
		return answer, false
	}
	upload, err := a.file.Upload(0)
	answer.Upload = upload
	return answer, err == nil && upload != nil
}
