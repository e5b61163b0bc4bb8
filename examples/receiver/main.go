// Command receiver is a webhook endpoint as a customer would write it: HTTPS, the signature
// checked over the raw body before anything in it is believed, repeats dropped by event id.
//
//	receiver -cert localhost.pem -key localhost-key.pem -secret-file secret -out events.jsonl
//
// It prints its URL, and appends each event that is in order to the file, one line of JSON
// each. It uses nothing but the standard library.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes = 1 << 20
	// maxAge is how old a signed delivery may be: an old one is a replay.
	maxAge = 5 * time.Minute
)

func main() {
	cert := flag.String("cert", "", "certificate (PEM)")
	key := flag.String("key", "", "its private key (PEM)")
	secretFile := flag.String("secret-file", "", "file with the endpoint's secret, whsec_…; read for every delivery")
	out := flag.String("out", "", "file to append the events to")
	flag.Parse()
	if err := run(*cert, *key, &receiver{secretFile: *secretFile, out: *out, seen: map[string]bool{}}); err != nil {
		log.Fatal(err)
	}
}

func run(cert, key string, r *receiver) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("https://%s/hook\n", listener.Addr())
	srv := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	return srv.ServeTLS(listener, cert, key)
}

type receiver struct {
	secretFile, out string

	mu   sync.Mutex
	seen map[string]bool
}

// ServeHTTP answers 204 to what is in order, and 400 to what is not.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBodyBytes))
	if err == nil {
		err = r.accept(req.Header, body, time.Now())
	}
	if err != nil {
		log.Printf("refused: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) accept(header http.Header, body []byte, now time.Time) error {
	secret, err := os.ReadFile(r.secretFile)
	if err != nil {
		return err
	}
	if err := verify(header, body, strings.TrimSpace(string(secret)), now); err != nil {
		return err
	}
	var event struct {
		ID string `json:"event_id"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.ID != header.Get("X-Parlance-Event-Id") {
		return errors.New("the body is not the event that the headers announce")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[event.ID] {
		return nil // delivered before: say thank you and do nothing
	}
	if err := appendLine(r.out, body); err != nil {
		return err
	}
	r.seen[event.ID] = true
	return nil
}

// verify checks both signatures; one of them would do.
func verify(header http.Header, body []byte, secret string, now time.Time) error {
	signature, err := hex.DecodeString(strings.TrimPrefix(header.Get("X-Parlance-Signature"), "sha256="))
	if err != nil || !hmac.Equal(signature, sum([]byte(secret), body)) {
		return errors.New("X-Parlance-Signature does not match the body")
	}
	stamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > maxAge {
		return errors.New("webhook-timestamp is missing or too old")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return errors.New("the secret is not whsec_ and base64")
	}
	signed := bytes.Join([][]byte{[]byte(header.Get("webhook-id")), []byte(stamp), body}, []byte("."))
	want := sum(key, signed)
	for one := range strings.FieldsSeq(header.Get("webhook-signature")) { // two while a secret is rotated
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1,"))
		if err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return errors.New("webhook-signature does not match")
}

func sum(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

func appendLine(path string, body []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return err
	}
	line.WriteByte('\n')
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line.Bytes())
	return errors.Join(err, file.Close())
}
