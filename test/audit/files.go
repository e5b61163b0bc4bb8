package audit

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Invariants of the bucket.
const (
	readable  = "what rows name is in the bucket, with the bytes they say"
	watchedBy = "what no row names is watched, to be swept"
)

// checkFiles holds the bucket against the rows. Parts of unfinished uploads, which begin with a
// dot, are the bucket's own.
func (a *auditor) checkFiles(ctx context.Context) error {
	sizes := map[string]int64{}
	err := filepath.WalkDir(a.BlobDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		key, err := filepath.Rel(a.BlobDir, path)
		if err != nil || strings.HasPrefix(key, ".") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sizes[filepath.ToSlash(key)] = info.Size()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list the bucket: %w", err)
	}
	named, err := query[struct {
		Key   string
		Bytes int64
	}](ctx, a.conn,
		"SELECT blob_key AS key, size_bytes AS bytes FROM sources"+
			" UNION ALL SELECT previous_blob_key, previous_size_bytes FROM sources WHERE previous_blob_key <> ''")
	if err != nil {
		return err
	}
	owned := map[string]bool{}
	for _, one := range named {
		owned[one.Key] = true
		a.looked(readable, 1)
		if size, there := sizes[one.Key]; !there || size != one.Bytes {
			a.found(readable, "%s should have %d bytes, has %d (there: %t)", one.Key, one.Bytes, size, there)
		}
	}
	watched, err := query[struct{ Key string }](ctx, a.conn, "SELECT key FROM stray_blobs")
	if err != nil {
		return err
	}
	for _, one := range watched {
		if owned[one.Key] {
			a.found(watchedBy, "%s is named by a row and would be swept", one.Key)
		}
		owned[one.Key] = true
	}
	for key := range sizes {
		a.looked(watchedBy, 1)
		if !owned[key] {
			a.found(watchedBy, "%s is nobody's", key)
		}
	}
	return nil
}
