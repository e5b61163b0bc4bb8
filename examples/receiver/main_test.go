package main

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// signed is a delivery as Parlance makes it.
func signed(body string, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	key := []byte("01234567890123456789012345678901")
	header := http.Header{}
	header.Set("X-Parlance-Signature", "sha256="+hex.EncodeToString(sum([]byte(secret), []byte(body))))
	header.Set("X-Parlance-Event-Id", "evt_1")
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(sum(key, []byte("evt_1."+stamp+"."+body))))
	return header
}

func TestAccept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const body = `{"event_id": "evt_1"}`
	for name, row := range map[string]struct {
		body   string
		change func(http.Header)
		fault  string
	}{
		"OK":             {body, func(http.Header) {}, ""},
		"OtherBody":      {body + " ", func(http.Header) {}, "X-Parlance-Signature"},
		"NoSignature":    {body, func(h http.Header) { h.Del("X-Parlance-Signature") }, "X-Parlance-Signature"},
		"OtherID":        {body, func(h http.Header) { h.Set("webhook-id", "evt_2") }, "webhook-signature"},
		"OtherAnnounced": {body, func(h http.Header) { h.Set("X-Parlance-Event-Id", "evt_2") }, "announce"},
		"Old": {body, func(h http.Header) {
			for name, values := range signed(body, now.Add(-time.Hour)) {
				h[name] = values
			}
		}, "webhook-timestamp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &receiver{secretFile: filepath.Join(dir, "secret"), out: filepath.Join(dir, "out"), seen: map[string]bool{}}
			if err := os.WriteFile(r.secretFile, []byte(secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			header := signed(body, now)
			row.change(header)
			for range 2 { // a repeat is answered alike and recorded once
				err := r.accept(header, []byte(row.body), now)
				if (err == nil) != (row.fault == "") || err != nil && !strings.Contains(err.Error(), row.fault) {
					t.Errorf("got %v, want %q", err, row.fault)
				}
			}
			written, _ := os.ReadFile(r.out) // absent when nothing was accepted
			want := ""
			if row.fault == "" {
				want = "{\"event_id\":\"evt_1\"}\n"
			}
			if string(written) != want {
				t.Errorf("recorded %q, want %q", written, want)
			}
		})
	}
}
