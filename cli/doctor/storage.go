package doctor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/blob"
)

const (
	littleRoom = 5 << 30
	noRoom     = 200 << 20
)

// mounted are directories where files are visible only to one container or unit, whatever their
// mode.
var mounted = []string{"/run/secrets/", "/var/run/secrets/", "/run/credentials/"}

func checkBucket(ctx context.Context, d Deps, r *report) {
	if d.Config.BlobURL == "" {
		r.skip("reach", "PARLANCE_BLOB_URL is not set")
		return
	}
	advice := "Let the service's user own the directory, mode 0700: install -d -o USER -m 0700 DIR."
	if !strings.HasPrefix(d.Config.BlobURL, "file:") {
		advice = "Correct the setting that the message names (PARLANCE_BLOB_URL, PARLANCE_S3_…, PARLANCE_EGRESS_CA_FILE), or the key's policy."
	}
	bucket, err := app.OpenBucket(ctx, d.Config)
	if err != nil {
		r.fail("reach", advice, "%v", err)
		return
	}
	defer func() { _ = bucket.Close() }() // only used here
	if err := tryBucket(ctx, bucket, "doctor/"+d.Nonce()); err != nil {
		r.fail("write", advice, "%v", err)
	} else {
		r.ok("write", "a blob was written, read and deleted")
	}
	u, err := url.Parse(d.Config.BlobURL)
	if err != nil || u.Scheme != "file" {
		return
	}
	checkDirectory(u.Path, r)
	checkRoom(u.Path, r)
}

// tryBucket writes a blob, reads it and deletes it.
func tryBucket(ctx context.Context, bucket blob.Bucket, key string) error {
	const content = "written by parlance doctor"
	if _, _, err := bucket.Put(ctx, key, strings.NewReader(content)); err != nil {
		return err
	}
	reader, err := bucket.Get(ctx, key)
	if err != nil {
		return err
	}
	read, err := io.ReadAll(reader)
	if err = errors.Join(err, reader.Close(), bucket.Delete(ctx, key)); err != nil {
		return err
	}
	if string(read) != content {
		return errors.New("what was read is not what was written")
	}
	return nil
}

func checkDirectory(dir string, r *report) {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o007 != 0 {
		r.warn("mode", "chmod 0700 "+dir, "every user of this machine gets at customers' documents in %s", dir)
	}
}

func checkRoom(dir string, r *report) {
	switch free, err := wal.Room(dir); {
	case err != nil:
		r.skip("room", "%v", err)
	case free < noRoom:
		r.fail("room", "Make room, or move the bucket.", "%d MiB are left on the disk of %s", free>>20, dir)
	case free < littleRoom:
		r.warn("room", "Make room before uploads fail.", "%.1f GiB are left on the disk of %s", float64(free)/(1<<30), dir)
	default:
		r.ok("room", "%d GiB are left", free>>30)
	}
}

func checkMasterKey(ctx context.Context, d Deps, r *report) {
	if path := d.Config.MasterKeyFile; path != "" && !checkKeyFile(path, d.Config.BlobURL, r) {
		return
	}
	if d.Config.DatabaseURL == "" {
		r.skip("opens", "DATABASE_URL is not set")
		return
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: d.Config.DatabaseURL.Reveal(), MaxConns: 1})
	if err != nil {
		r.skip("opens", "Postgres does not answer; see there")
		return
	}
	defer func() { _ = db.Close() }() // only read from
	found, err := app.CheckMasterKey(ctx, d.Config, seal.Deps{DB: db, Now: d.Now})
	switch {
	case errors.Is(err, seal.ErrUnknownKey), errors.Is(err, seal.ErrOpen):
		r.fail("opens",
			"Bring back the key this database was used with; nothing else opens what is stored. `parlance keys rotate-master` "+
				"moves to another.", "%v", err)
	case isNotMigrated(err):
		r.skip("opens", "the database has not been migrated; see there")
	case found && err != nil:
		r.fail("opens", "See the message; a key in a key service needs that service.", "%v", err)
	case err != nil:
		r.fail("opens",
			"Let PARLANCE_MASTER_KEY_FILE name a key as `openssl rand -base64 32` makes it, and run `parlance migrate up`.", "%v", err)
	case !found:
		r.ok("opens", "nothing has been sealed in this database yet")
	default:
		r.ok("opens", "it opens what is stored")
	}
}

// isNotMigrated reports whether a table is missing.
func isNotMigrated(err error) bool {
	const undefinedTable = "42P01"
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && answer.Code == undefinedTable
}

// checkKeyFile reports whether the file can be read, and warns if others can read it.
func checkKeyFile(path, blobURL string, r *report) bool {
	info, err := os.Stat(path)
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.fail("file",
			"Put the key there that this installation was used with. Only for a new one make a key: (umask 077; openssl rand "+
				"-base64 32 > FILE), and keep a copy apart from the backups.", "%s does not exist", path)
		return false
	case err != nil:
		r.fail("file", "Let the service's user own the file, mode 0600.", "%v", err)
		return false
	}
	_ = file.Close() // only opened as a test
	isMounted := slices.ContainsFunc(mounted, func(dir string) bool { return strings.HasPrefix(path, dir) })
	if info.Mode().Perm()&0o077 != 0 && !isMounted {
		r.warn("mode", "chmod 0600 "+path, "others than its owner may use %s (mode %04o)", path, info.Mode().Perm())
	} else {
		r.ok("file", "%s can be read, by those only who should", path)
	}
	if u, err := url.Parse(blobURL); err == nil && u.Path != "" && strings.HasPrefix(path, strings.TrimSuffix(u.Path, "/")+"/") {
		r.warn("place", "Keep the key outside of the bucket: who copies the bucket has it.", "the key lies in the bucket")
	}
	return true
}

// number parses a value of INFO; 0 if it is no number.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // 0 if it is no number
	return n
}
