package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// consolePath is the path of the console's files.
const consolePath = "/console/"

// consolePolicy is the Content-Security-Policy of the console. The page loads from and calls only
// its own server, cannot be framed, and makes no HTML of strings (Trusted Types, in browsers that
// know them).
const consolePolicy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"object-src 'none'; media-src 'self' blob:; require-trusted-types-for 'script'; trusted-types 'none'"

// page is a file of the console, ready to be sent.
type page struct {
	body      []byte
	mediaType string
	etag      string
	// unchanging says that its name has a hash of its content.
	unchanging bool
}

// registerConsole adds the console's files, which need no key. index.html is /console/ itself, and
// / leads there.
func registerConsole(mux *http.ServeMux, files fs.FS, problems problem.Writer) error {
	pages := map[string]page{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		mediaType := mime.TypeByExtension(path.Ext(name))
		if path.Ext(name) == ".js" {
			mediaType = "text/javascript; charset=utf-8" // systems map it differently, and browsers require it
		}
		pages[strings.TrimSuffix(name, "index.html")] = page{
			body: body, mediaType: mediaType, etag: `"` + hex.EncodeToString(sum[:12]) + `"`,
			unchanging: strings.HasPrefix(name, "assets/"),
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the console: %w", err)
	}
	mux.Handle(consolePath, getOnly(func(w http.ResponseWriter, r *http.Request) {
		found, ok := pages[strings.TrimPrefix(r.URL.Path, consolePath)]
		if !ok {
			problems.Write(w, r, fault.New(fault.RouteNotFound, "There is no such file of the console. The console is at %s.", consolePath))
			return
		}
		found.write(w, r)
	}, problems))
	mux.Handle(strings.TrimSuffix(consolePath, "/"), getOnly(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "console/") // relative, because a proxy may have removed a path prefix
		w.WriteHeader(http.StatusPermanentRedirect)
	}, problems))
	mux.Handle("/{$}", getOnly(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "console/") // see above
		w.WriteHeader(http.StatusFound)        // not for ever: another page may be here one day
	}, problems))
	return nil
}

// write sends the file, or answers 304 when the caller's copy is current. Browsers ask each time
// for the page, which names the files in assets/ by a hash of their content.
func (p page) write(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", consolePolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	if p.unchanging {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	header.Set("ETag", p.etag)
	header.Set("Content-Type", p.mediaType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.body))
}
