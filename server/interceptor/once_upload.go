package interceptor

import (
	"bytes"
	"errors"
	"net/http"

	"parlance.dev/parlance/idempotency"
)

// uploadForm marks the requests whose fingerprint does not include their body.
const uploadForm = "upload"

// File is what WrapUpload needs of an upload, whose body is never in memory as a whole.
type File interface {
	// Upload reads the rest of the body and describes the file. It does not read a file of more than
	// limit bytes (0: no limit) to its end; it returns nil for it.
	Upload(limit int64) (*idempotency.Upload, error)
}

// WrapUpload is Wrap for a file. The file is hashed while the work reads it; when the request is
// repeated, the file is read once more, to tell it from another file under the same key. Only
// success is kept, because a refused file was not read to its end. An error that keeps next from
// being called is returned, not written.
func (o *Once) WrapUpload(w http.ResponseWriter, r *http.Request, file File, next http.Handler) error {
	claim, err := o.begin(r, nil, uploadForm)
	if err != nil {
		return err
	}
	if claim.Answer == nil {
		answer := &uploadAnswer{bufferedAnswer: bufferedAnswer{header: w.Header()}, file: file}
		o.work(answer, r, claim, next)
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body.Bytes()) // the caller has hung up when this fails; it can ask again
		return nil
	}
	first := claim.Answer.Upload
	if first == nil {
		return errors.New("the stored answer of an upload has no file")
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

// uploadAnswer is a bufferedAnswer with the file that it is about.
type uploadAnswer struct {
	bufferedAnswer
	file File
}

func (a *uploadAnswer) outcome() (idempotency.Answer, bool) {
	answer, _ := a.bufferedAnswer.outcome()
	if answer.Status >= http.StatusBadRequest {
		return answer, false
	}
	upload, err := a.file.Upload(0)
	answer.Upload = upload
	return answer, err == nil && upload != nil
}
