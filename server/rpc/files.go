package rpc

import (
	"net/http"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// NewFiles makes the REST routes that move files, which the facade cannot transcode, by procedure.
func NewFiles(d FileDeps, log AuditReader) map[string]http.Handler {
	const (
		upload   = parlancev1connect.KnowledgeServiceUploadSourceProcedure
		replace  = parlancev1connect.KnowledgeServiceReplaceSourceContentProcedure
		download = parlancev1connect.KnowledgeServiceDownloadSourceProcedure
		sound    = parlancev1connect.SessionServiceDownloadRecordingProcedure
		export   = parlancev1connect.AuditServiceExportAuditLogProcedure
		calendar = parlancev1connect.CallbackServiceExportCallbackCalendarProcedure
		results  = parlancev1connect.CallbackServiceExportCallbackBatchProcedure
	)
	return map[string]http.Handler{
		upload: NewUpload(d, upload), replace: NewUpload(d, replace), download: NewDownload(d), sound: NewRecordingDownload(d),
		export: NewAuditExport(d, log), calendar: NewCalendarExport(d), results: NewBatchExport(d),
	}
}
