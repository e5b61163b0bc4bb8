package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// signed is a delivery as Parlance sends it.
func signed(body string, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte("01234567890123456789012345678901"))
	mac.Write([]byte("evt_1." + stamp + "." + body))
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return header
}

func TestReceive(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const body = `{"event_id": "evt_1"}`
	for name, row := range map[string]struct {
		body, secrets string
		header        http.Header
		status        int
	}{
		"OK":         {body, secret, signed(body, now), 204},
		"Rotated":    {body, "whsec_AAAA\n" + secret + "\n", signed(body, now), 204},
		"OtherBody":  {body + " ", secret, signed(body, now), 400},
		"NoHeaders":  {body, secret, http.Header{}, 400},
		"Old":        {body, secret, signed(body, now.Add(-6*time.Minute)), 400},
		"Early":      {body, secret, signed(body, now.Add(6*time.Minute)), 400},
		"Another":    {body, "whsec_AAAA", signed(body, now), 400},
		"NoSecret":   {body, "", signed(body, now), 400},
		"OtherEvent": {`{"event_id": "evt_2"}`, secret, signed(`{"event_id": "evt_2"}`, now), 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &receiver{secretFile: filepath.Join(dir, "secret"), now: func() time.Time { return now }}
			if err := os.WriteFile(r.secretFile, []byte(row.secrets), 0o600); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out")
			// What a crash left behind: an event, and half of another that nobody was told of.
			if err := os.WriteFile(out, []byte("{\"event_id\":\"evt_0\"}\n{\"event_id\":\"evt"), 0o600); err != nil {
				t.Fatal(err)
			}
			want := "{\"event_id\":\"evt_0\"}\n"
			if row.status == 204 {
				want += "{\"event_id\":\"evt_1\"}\n"
			}
			for range 2 { // a repeat is answered alike and kept once, also after a restart
				var err error
				if r.kept, err = openStore(out); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					req := httptest.NewRequest("POST", "/hook", strings.NewReader(row.body))
					req.Header = row.header
					got := httptest.NewRecorder()
					r.ServeHTTP(got, req)
					if got.Code != row.status {
						t.Errorf("answered %d %s, want %d", got.Code, got.Body, row.status)
					}
				}
				if written, err := os.ReadFile(out); err != nil || string(written) != want {
					t.Errorf("kept %q, %v, want %q", written, err, want)
				}
				if err := r.kept.file.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestFullDisk: the remains of a failed write do not become part of the next event.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	kept, err := openStore(out)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, id := range []string{"evt_1", "evt_2"} {
		if _, err := kept.file.WriteAt([]byte(`{"event_id":"evt_torn","data":"`), kept.end); err != nil {
			t.Fatal(err)
		}
		event := `{"event_id":"` + id + `"}`
		if err := kept.keep(id, []byte(event)); err != nil {
			t.Fatal(err)
		}
		want += event + "\n"
	}
	if written, err := os.ReadFile(out); err != nil || string(written) != want {
		t.Errorf("kept %q, %v, want %q", written, err, want)
	}
	if err := kept.file.Close(); err != nil {
		t.Error(err)
	}
}
