package blob

import (
	"context"
	"io"
)

// CheckCall guards the operations of a bucket that do not read a stream: it returns why ctx has
// ended, or what is wrong with the key.
func CheckCall(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return CheckKey(key)
}

// WithContext returns a reader that fails when ctx has ended, for a copy that takes no context.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

// contextReader ends a copy when ctx does.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives for one io.Copy, which takes no context
	r   io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
