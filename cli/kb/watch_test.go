package kb_test

import (
	"encoding/binary"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// endOfStream is the end of a Connect stream that failed because a precondition did not hold.
func endOfStream() []byte {
	const flagEnd = 2
	text := `{"error": {"code": "failed_precondition", "message": "not now"}}`
	return append(binary.BigEndian.AppendUint32([]byte{flagEnd}, uint32(len(text))), text...)
}

// A precondition may hold a moment later: the source is watched again.
func TestWatchesAgainAfterAPrecondition(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	w := start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/WatchSource") && refused.Add(1) == 1 {
				out.Header().Set("Content-Type", r.Header.Get("Content-Type"))
				_, _ = out.Write(endOfStream()) // the command would see it
				return
			}
			service.ServeHTTP(out, r)
		})
	}})
	w.kb(t, "Thirty days.", "add", "-", "--name", "Returns.md").Wants(t, command.ExitDone, "1 ready")
	if refused.Load() < 2 {
		t.Errorf("it was asked %d times", refused.Load())
	}
}
