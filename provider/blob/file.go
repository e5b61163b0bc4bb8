package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// partsDir holds unfinished blobs, on the same file system as the finished ones so that a
// rename is atomic. CheckKey keeps keys out of it: they never begin with a dot.
const partsDir = ".parts"

// fileBucket keeps each blob in a file under root. os.Root refuses paths and symbolic links
// that lead outside, whatever the key.
type fileBucket struct {
	root *os.Root
}

// openFile opens the bucket at dir, made with mode 0700: blobs are customers' documents.
func openFile(dir string) (*fileBucket, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the bucket directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the bucket directory: %w", err)
	}
	if err := root.MkdirAll(partsDir, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("making the bucket's parts directory: %w", err), root.Close())
	}
	return &fileBucket{root: root}, nil
}

// Put implements Bucket: write beside, sync, rename, sync the directory.
func (b *fileBucket) Put(ctx context.Context, key string, r io.Reader) (int64, string, error) {
	if err := CheckKey(key); err != nil {
		return 0, "", err
	}
	part := path.Join(partsDir, rand.Text())
	size, sum, err := b.writePart(ctx, part, r)
	if err == nil {
		err = b.publish(part, key)
	}
	if err != nil {
		return 0, "", errors.Join(fmt.Errorf("storing blob %q: %w", key, err), ignoreMissing(b.root.Remove(part)))
	}
	return size, sum, nil
}

// writePart copies r into a new file and syncs it.
func (b *fileBucket) writePart(ctx context.Context, part string, r io.Reader) (int64, string, error) {
	f, err := b.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	// The kernel gives the lock up when the process ends, so Tidy knows what nobody writes any more.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return 0, "", errors.Join(fmt.Errorf("locking an unfinished blob: %w", err), f.Close())
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, hash), WithContext(ctx, r))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(hash.Sum(nil)), nil
}

// publish moves a finished part to its key.
func (b *fileBucket) publish(part, key string) error {
	dir := path.Dir(key)
	if err := b.root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := b.root.Rename(part, key); err != nil {
		return err
	}
	return b.syncDir(dir)
}

// syncDir makes a rename survive a power cut.
func (b *fileBucket) syncDir(dir string) error {
	d, err := b.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements Bucket.
func (b *fileBucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := CheckCall(ctx, key); err != nil {
		return nil, err
	}
	f, err := b.root.Open(key)
	if err != nil {
		return nil, fmt.Errorf("opening blob %q: %w", key, notFound(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFound // a directory is the prefix of other keys, not a blob
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening blob %q: %w", key, err), f.Close())
	}
	return f, nil
}

// Stat implements Bucket.
func (b *fileBucket) Stat(ctx context.Context, key string) (Info, error) {
	if err := CheckCall(ctx, key); err != nil {
		return Info{}, err
	}
	info, err := b.root.Stat(key)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFound
	}
	if err != nil {
		return Info{}, fmt.Errorf("describing blob %q: %w", key, notFound(err))
	}
	return Info{SizeBytes: info.Size(), ModifiedAt: info.ModTime().UTC()}, nil
}

// Delete implements Bucket.
func (b *fileBucket) Delete(ctx context.Context, key string) error {
	if _, err := b.Stat(ctx, key); err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	if err := b.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting blob %q: %w", key, err)
	}
	return nil
}

// abandonedAge is how old a part is that its process has surely locked.
const abandonedAge = time.Minute

// Tidy implements Bucket. A part is as old as its last byte. Those of processes that ended are
// removed although they are younger.
func (b *fileBucket) Tidy(ctx context.Context, before time.Time) error {
	parts, err := fs.ReadDir(b.root.FS(), partsDir)
	if err != nil {
		return fmt.Errorf("listing unfinished blobs: %w", err)
	}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := part.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) && !b.abandoned(info) {
			continue
		}
		if err == nil {
			err = ignoreMissing(b.root.Remove(path.Join(partsDir, part.Name())))
		}
		if err != nil {
			return fmt.Errorf("removing an unfinished blob: %w", err)
		}
	}
	return nil
}

// abandoned reports whether no process writes a part.
func (b *fileBucket) abandoned(part fs.FileInfo) bool {
	if time.Since(part.ModTime()) < abandonedAge { //nolint:forbidigo // compared with a time of the file system
		return false
	}
	f, err := b.root.Open(path.Join(partsDir, part.Name()))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // with the lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// Check implements Bucket with a file that is made and removed: a full or read-only disk fails.
func (b *fileBucket) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	probe := path.Join(partsDir, "check-"+rand.Text())
	if err := b.root.WriteFile(probe, []byte("ok"), 0o600); err != nil {
		return errors.Join(fmt.Errorf("writing to the bucket: %w", err), ignoreMissing(b.root.Remove(probe)))
	}
	if err := b.root.Remove(probe); err != nil {
		return fmt.Errorf("deleting from the bucket: %w", err)
	}
	return nil
}

// Close implements Bucket.
func (b *fileBucket) Close() error { return b.root.Close() }

// notFound turns the file system's words for absence into ErrNotFound.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return ErrNotFound
	}
	return err
}

// ignoreMissing drops the error of removing what is not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
