package interceptor

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Compressor compresses JSON answers of at least Least bytes for callers that accept gzip. Event
// streams, files and small answers are sent as they are: gzip costs more than it saves there.
type Compressor struct {
	Least   int
	writers sync.Pool
}

// Wrap is the middleware.
func (c *Compressor) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			next.ServeHTTP(w, r) // its headers describe the uncompressed answer
			return
		}
		out := &gzipWriter{ResponseWriter: w, compressor: c, taken: acceptsGzip(r.Header)}
		defer out.finish()
		next.ServeHTTP(out, r)
	})
}

// acceptsGzip reports whether Accept-Encoding names gzip, or *, with a weight above 0.
func acceptsGzip(header http.Header) bool {
	best := -1.0
	named := false
	for line := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(line, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "x-gzip" && (name != "*" || named) {
			continue
		}
		named = named || name != "*"
		best = weight(params)
	}
	return best > 0
}

// weight is the q of "q=0.5"; 1 without one, 0 for one that is no number.
func weight(params string) float64 {
	name, value, found := strings.Cut(strings.TrimSpace(params), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}

// gzipWriter decides when the header is written whether the body is compressed.
type gzipWriter struct {
	http.ResponseWriter
	compressor *Compressor
	taken      bool
	decided    bool
	gzip       *gzip.Writer
}

// WriteHeader implements http.ResponseWriter.
func (w *gzipWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.decided {
		w.decided = true
		w.decide(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *gzipWriter) decide(status int) {
	header := w.Header()
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if kind != "application/json" && kind != "application/problem+json" || err != nil || length < w.compressor.Least ||
		header.Get("Content-Encoding") != "" || status == http.StatusNoContent || strings.Contains(header.Get("Cache-Control"), "no-transform") {
		return
	}
	header.Add("Vary", "Accept-Encoding")
	if !w.taken {
		return
	}
	header.Set("Content-Encoding", "gzip")
	header.Del("Content-Length")
	var ok bool
	if w.gzip, ok = w.compressor.writers.Get().(*gzip.Writer); !ok {
		w.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // only an unknown level is an error
	}
	w.gzip.Reset(w.ResponseWriter)
}

// Write implements io.Writer.
func (w *gzipWriter) Write(p []byte) (int, error) {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
	if w.gzip != nil {
		return w.gzip.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// finish writes the rest and returns the gzip.Writer to the pool.
func (w *gzipWriter) finish() {
	if w.gzip == nil {
		return
	}
	_ = w.gzip.Close() // the caller is gone when this fails
	w.gzip.Reset(nil)
	w.compressor.writers.Put(w.gzip)
	w.gzip = nil
}

// Unwrap lets http.ResponseController reach the connection.
func (w *gzipWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush exists because connect asks the writer for http.Flusher.
func (w *gzipWriter) Flush() {
	if w.gzip != nil {
		_ = w.gzip.Flush() // the caller is gone when this fails
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush has nothing to flush
}
