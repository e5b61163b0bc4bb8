package rpc

import (
	"net/http"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// NewFiles makes the REST routes that move files, which the facade cannot transcode, by procedure.
func NewFiles(d FileDeps) map[string]http.Handler {
	return map[string]http.Handler{
		parlancev1connect.KnowledgeServiceUploadSourceProcedure:   NewUpload(d),
		parlancev1connect.KnowledgeServiceDownloadSourceProcedure: NewDownload(d),
	}
}
