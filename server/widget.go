package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// widgetPath is the path of the files that customers' pages load.
const widgetPath = "/widget/"

// script is a file of the widget, ready to be sent.
type script struct {
	body []byte
	etag string
}

// registerWidget adds the files of the widget, which need no key. Pages of every origin may load
// them.
func registerWidget(mux *http.ServeMux, files fs.FS, problems problem.Writer) error {
	names, err := fs.Glob(files, "*.js")
	if err != nil {
		return fmt.Errorf("list the widget: %w", err)
	}
	scripts := map[string]script{}
	for _, name := range names {
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("read the widget: %w", err)
		}
		sum := sha256.Sum256(body)
		scripts[name] = script{body: body, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	mux.Handle(widgetPath, getOnly(func(w http.ResponseWriter, r *http.Request) {
		found, ok := scripts[strings.TrimPrefix(r.URL.Path, widgetPath)]
		if !ok {
			problems.Write(w, r, fault.New(fault.RouteNotFound, "There is no such file of the widget. Pages load %swidget.js.", widgetPath))
			return
		}
		found.write(w, r)
	}, problems))
	return nil
}

// write sends the file, or answers 304 when the caller's copy is current. Browsers ask each time,
// so that a page has the script and the worklets of one version. They load audio worklets with
// CORS, and pages that isolate themselves load scripts only with a resource policy.
func (s script) write(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", s.etag)
	header.Set("Content-Type", "text/javascript; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
}
