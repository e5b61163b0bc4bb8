package rpc

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/server/interceptor"
)

type downloadHandler struct{ FileDeps }

// NewDownload makes the REST route of DownloadSource. It answers with the stored bytes and their
// media type, as an attachment that browsers neither sniff nor run. A Range gets a part of them, a
// matching If-None-Match gets 304. The path variables are workspace_id and source_id.
func NewDownload(d FileDeps) http.Handler { return &downloadHandler{d} }

// ServeHTTP implements http.Handler.
func (h *downloadHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const procedure = parlancev1connect.KnowledgeServiceDownloadSourceProcedure
	ctx, err := h.Admit(r.Context(), procedure, r.Header, w.Header())
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	ref, err := h.Access.Workspace(ctx, r.PathValue("workspace_id"))
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	source, content, err := h.Knowledge.Open(ctx, ref, knowledge.SourceID(r.PathValue("source_id")))
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	defer func() { _ = content.Close() }() // only read
	if r.Method != http.MethodHead {
		err = h.Audit.Read(ctx, interceptor.AuditedCall{
			Procedure: procedure, Header: r.Header,
			Request: &parlancev1.DownloadSourceRequest{WorkspaceId: string(ref.ID), SourceId: string(source.ID)},
		})
	}
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", source.MediaType)
	header.Set("Content-Disposition", disposition(downloadName(source)))
	header.Set("ETag", strconv.Quote(source.SHA256))
	header.Set("Cache-Control", "private, no-cache, no-transform") // a Range counts the stored bytes
	// An uploaded page must not run as one of ours, wherever it is opened.
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	if !isPiece(r.Header.Get("Range"), source.SizeBytes) {
		r.Header.Del("Range") // RFC 9110, 14.2: a server may ignore it
	}
	serveContent(w, r, source.CreatedAt, source.SizeBytes, content)
}

// serveContent writes a blob, or the Range of it that is asked for where the bucket can seek. The
// zero time is that of a blob without one.
func serveContent(w http.ResponseWriter, r *http.Request, modified time.Time, size int64, content io.Reader) {
	if seekable, ok := content.(io.ReadSeeker); ok {
		http.ServeContent(w, r, "", modified, seekable)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(w, content) // the status is sent: a short body is the only sign of an error
}

// isPiece reports whether a Range asks for one part of a file of this size.
func isPiece(asked string, size int64) bool {
	from, to, ok := strings.Cut(strings.TrimPrefix(asked, "bytes="), "-")
	if !ok || !strings.HasPrefix(asked, "bytes=") {
		return false
	}
	if from == "" {
		last, err := strconv.ParseUint(to, 10, 63)
		return err == nil && last > 0 && size > 0
	}
	first, err := strconv.ParseUint(from, 10, 63)
	if err != nil || int64(first) >= size {
		return false
	}
	if to == "" {
		return true
	}
	last, err := strconv.ParseUint(to, 10, 63)
	return err == nil && last >= first
}

// disposition gives the file name twice: in ASCII for old readers, and unchanged. Source: RFC
// 6266, appendix D.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + ascii + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// downloadName returns a file name for a source; pasted text has none of its own.
func downloadName(s knowledge.Source) string {
	name := strings.NewReplacer("/", "_", `\`, "_").Replace(s.Name)
	if s.Kind == knowledge.KindInline && !strings.HasSuffix(name, ".md") {
		name += ".md"
	}
	return name
}
