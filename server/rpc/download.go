package rpc

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/knowledge"
)

type downloadHandler struct{ FileDeps }

// NewDownload is the REST route of DownloadSource: the stored bytes with their media type, as an
// attachment, never to be sniffed. The path variables are workspace_id and source_id.
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
	header := w.Header()
	header.Set("Content-Type", source.MediaType)
	header.Set("Content-Length", strconv.FormatInt(source.SizeBytes, 10))
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": downloadName(source)}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("ETag", strconv.Quote(source.SHA256))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(w, content) // the answer has begun: a short body is all that can be said
}

// downloadName is a file name for a source; pasted text has none of its own.
func downloadName(s knowledge.Source) string {
	name := strings.NewReplacer("/", "_", `\`, "_").Replace(s.Name)
	if s.Kind == knowledge.KindInline && !strings.HasSuffix(name, ".md") {
		name += ".md"
	}
	return name
}
