// Command receiver is a webhook endpoint as a customer would write it. It serves HTTPS, checks the
// signature of the raw body before it uses anything in it, keeps each event once, and answers 2xx
// only when the event is on disk. It uses only the standard library.
//
//	receiver --cert localhost.pem --key localhost-key.pem --secret-file secret --out events.jsonl
//
// It prints its URL, and appends each new event to the file as one line of JSON.
package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes = 1 << 20
	// maxAge is the largest difference between a delivery's time and ours. Older deliveries are
	// replays.
	maxAge = 5 * time.Minute
)

func main() {
	cert := flag.String("cert", "", "certificate (PEM)")
	key := flag.String("key", "", "its private key (PEM)")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	secretFile := flag.String("secret-file", "",
		"file with the endpoint's secret, whsec_…; two lines while it is rotated; read for every delivery")
	out := flag.String("out", "", "file to append the events to")
	flag.Parse()
	if err := run(*cert, *key, *listen, *secretFile, *out); err != nil {
		log.Fatal(err)
	}
}

func run(cert, key, listen, secretFile, out string) error {
	if secretFile == "" || out == "" {
		return errors.New("--secret-file and --out are needed; --help says what they are")
	}
	kept, err := openStore(out)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("https://%s/hook\n", listener.Addr())
	srv := &http.Server{
		Handler:           &receiver{secretFile: secretFile, kept: kept, now: time.Now},
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 15 * time.Second,
	}
	return srv.ServeTLS(listener, cert, key)
}

type receiver struct {
	secretFile string
	kept       *store
	now        func() time.Time
}

// ServeHTTP answers 204 when the event was kept, 400 when the request is invalid, and 500 when the
// event could not be kept, so that it is sent again.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBodyBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	secrets, err := os.ReadFile(r.secretFile)
	if err != nil {
		log.Printf("not received: %v", err)
		http.Error(w, "try again", http.StatusInternalServerError)
		return
	}
	if err := verify(req.Header, body, strings.Fields(string(secrets)), r.now()); err != nil {
		log.Printf("refused: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// webhook-id is signed. It is the id of the event, and the same in every attempt.
	if err := r.kept.keep(req.Header.Get("webhook-id"), body); err != nil {
		log.Printf("not kept: %v", err)
		http.Error(w, "try again", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// verify checks that the sender knows one of the secrets, and that the delivery is recent.
// X-Parlance-Signature does not cover the time.
func verify(header http.Header, body []byte, secrets []string, now time.Time) error {
	stamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > maxAge {
		return errors.New("webhook-timestamp is missing or too far from now")
	}
	signed := bytes.Join([][]byte{[]byte(header.Get("webhook-id")), []byte(stamp), body}, []byte("."))
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		want := mac.Sum(nil)
		for one := range strings.FieldsSeq(header.Get("webhook-signature")) { // two while a secret is rotated
			got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1,"))
			if err == nil && hmac.Equal(got, want) { // in constant time
				return nil
			}
		}
	}
	return errors.New("webhook-signature does not match")
}

// store keeps each event once in a file. What it has accepted survives a crash.
type store struct {
	mu   sync.Mutex
	file *os.File
	// end is the end of the last kept event.
	end  int64
	seen map[string]bool
}

func openStore(path string) (*store, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	s := &store{file: file, seen: map[string]bool{}}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // a line without an end was never answered for
		}
		if err != nil {
			return nil, err
		}
		var event struct {
			ID string `json:"event_id"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("%s is not a file of events: %w", path, err)
		}
		s.seen[event.ID] = true
		s.end += int64(len(line))
	}
	if err := file.Truncate(s.end); err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(path)) // the file's name must survive, too
	if err != nil {
		return nil, err
	}
	return s, errors.Join(dir.Sync(), dir.Close())
}

// keep returns when the event is on disk.
func (s *store) keep(id string, body []byte) error {
	var event struct {
		ID string `json:"event_id"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.ID != id || id == "" {
		return errors.New("the body is not the event that webhook-id names")
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return err
	}
	line.WriteByte('\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[id] {
		return nil // kept before: say thank you and do nothing
	}
	// Remove what a failed write left, or it would become part of this event's line.
	if err := s.file.Truncate(s.end); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(line.Bytes(), s.end); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.end += int64(line.Len())
	s.seen[id] = true
	return nil
}
