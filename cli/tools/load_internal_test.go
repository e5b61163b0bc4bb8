package tools

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/tools/openapi"
)

const little = `{"openapi": "3.0.0", "info": {"title": "Little"}, "paths": {"/a": {"get": {"operationId": "a"}}}}`

func TestLoad(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/v3/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "hunter2" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(little)) // the test would see it
	})
	mux.Handle("/moved", http.RedirectHandler("/v3/openapi.json", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range maxDocumentBytes>>20 + 1 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	secret := strings.Replace(srv.URL, "http://", "http://ada:hunter2@", 1)

	source, err := loadDocument(t.Context(), secret+"/moved", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := source.URL.String(), srv.URL+"/v3/openapi.json"; got != want {
		t.Errorf("found at %s, want %s", got, want)
	}
	doc, err := openapi.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := doc.Plan(t.Context(), openapi.Options{})
	if err != nil || len(operations) != 1 || operations[0].Tool.URL != srv.URL+"/a" {
		t.Errorf("a document without servers does not call its own host: %+v (%v)", operations, err)
	}
	for path, says := range map[string]string{
		"/v3/openapi.json?x": "answers 401", "/none": "answers 404", "/loop": "redirected more than 5 times", "/large": "larger than 20 MiB",
	} {
		_, err := loadDocument(t.Context(), strings.Replace(secret, "ada:", "bob:", 1)+path, "test", nil)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no password", path, err, says)
		}
	}
	if _, err := loadDocument(t.Context(), filepath.Join(t.TempDir(), "none.yaml"), "test", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if source, err := loadDocument(t.Context(), "-", "test", strings.NewReader(little)); err != nil ||
		string(source.Raw) != little || source.URL != nil {
		t.Errorf("standard input: %v", err)
	}
}
