package recogniser

import (
	"net/http/httptest"
	"testing"
)

// Server is a running recogniser.
type Server struct {
	// URL ends in /v1, as PARLANCE_STT_BASE_URL does.
	URL string
}

// Start starts a recogniser of sentences, or of anything without them. It ends with the test, which
// fails when Pocketsphinx is missing and cannot be installed.
func Start(t testing.TB, sentences ...string) *Server {
	t.Helper()
	r, err := New(t.Context(), sentences...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		server.Close() // waits for what is being recognised
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Server{URL: server.URL + "/v1"}
}
