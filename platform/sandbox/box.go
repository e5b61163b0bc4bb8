package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Box is a directory for one document. Programs may run in it at the same time. Files are put and
// opened while no program runs, and Close comes last.
type Box struct {
	sandbox *Sandbox
	path    string
	root    *os.Root
	// uid is the box's own user; 0 is ours.
	uid uint32
}

// Put writes a file into the box, for programs to read. It does not replace one.
// Errors: ErrTooLarge when r has more than maxBytes, ctx's, r's.
func (b *Box) Put(ctx context.Context, name string, r io.Reader, maxBytes int64) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	file, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make %s in the box: %w", name, err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, b.Remove(name))
		}
	}()
	if b.uid != 0 {
		if err := file.Chown(int(b.uid), int(b.uid)); err != nil {
			return fmt.Errorf("hand %s over: %w", name, err)
		}
	}
	written, err := io.Copy(file, io.LimitReader(&contextReader{ctx: ctx, r: r}, maxBytes+1))
	if err != nil {
		return fmt.Errorf("fill %s in the box: %w", name, err)
	}
	if written > maxBytes {
		return fmt.Errorf("%s has more than %d bytes: %w", name, maxBytes, ErrTooLarge)
	}
	return nil
}

// contextReader ends with its context; it lives for one call.
type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader has no room for one
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// OpenFile opens what a program wrote: a file, and not a link, a pipe or a device that it made in
// the file's place. Errors: os.ErrNotExist.
func (b *Box) OpenFile(name string) (*os.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	info, err := b.root.Lstat(name) // nothing runs in the box meanwhile
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return nil, fmt.Errorf("open %s of the box: %w", name, err)
	}
	file, err := b.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s of the box: %w", name, err)
	}
	return file, nil
}

// Remove removes a file of the box; one that is not there is no error.
func (b *Box) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := b.root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s from the box: %w", name, err)
	}
	return nil
}

// Close removes the box and what is in it.
func (b *Box) Close() error {
	if err := errors.Join(b.root.Close(), os.RemoveAll(b.path)); err != nil {
		return fmt.Errorf("remove a box: %w", err)
	}
	return nil
}

// checkName lets through names that are no path, no option of a program, and not hidden.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name[:1], ".-") || name != filepath.Base(name) || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%q is no name for a file in a box", name)
	}
	return nil
}
