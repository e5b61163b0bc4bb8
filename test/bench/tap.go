package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// tap stands between a client and Postgres, counts their round trips and reads the statements.
// A round trip is whatever the client sends before Postgres answers.
type tap struct {
	// url is the database's, through the tap.
	url      string
	listener net.Listener
	upstream pgx.ConnConfig

	mu   sync.Mutex
	seen traffic
}

// traffic is what went by since the last reset.
type traffic struct {
	trips int
	// shapes are the statements, those that differ in their values only taken for one, as first
	// met.
	shapes []shape
}

// shape is a statement that was sent count times.
type shape struct {
	blank string
	text  string
	count int
}

// literal is a value in the text of a statement.
var literal = regexp.MustCompile(`'(?:[^']|'')*'|\b[0-9]+\b`)

// add counts a statement.
func (t *traffic) add(text string) {
	blank := literal.ReplaceAllString(text, "?")
	at := slices.IndexFunc(t.shapes, func(s shape) bool { return s.blank == blank })
	if at < 0 {
		at, t.shapes = len(t.shapes), append(t.shapes, shape{blank: blank, text: text})
	}
	t.shapes[at].count++
}

func newTap(ctx context.Context, databaseURL string) (*tap, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the tap: %w", err)
	}
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	t := &tap{url: through.String(), listener: listener, upstream: *config}
	go t.accept(ctx)
	return t, nil
}

func (t *tap) close() { _ = t.listener.Close() } // nothing is lost

// reset returns what went by and starts anew.
func (t *tap) reset() traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := t.seen
	t.seen = traffic{}
	return seen
}

func (t *tap) accept(ctx context.Context) {
	for {
		client, err := t.listener.Accept()
		if err != nil {
			return
		}
		go t.join(ctx, client)
	}
}

// join passes one connection's bytes on, both ways, until one side ends.
func (t *tap) join(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := t.dial(ctx)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var answered atomic.Bool
	answered.Store(true)
	go func() {
		defer func() { _ = client.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if n > 0 {
				answered.Store(true)
				if _, err := client.Write(buffer[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	reader := &frontend{prepared: map[string]string{}}
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if n > 0 {
			t.note(reader.statements(buffer[:n]), answered.Swap(false))
			if _, err := server.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *tap) dial(ctx context.Context) (net.Conn, error) {
	network, address := "tcp", net.JoinHostPort(t.upstream.Host, fmt.Sprint(t.upstream.Port))
	if strings.HasPrefix(t.upstream.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", t.upstream.Host, t.upstream.Port)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (t *tap) note(statements []string, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if begins {
		t.seen.trips++
	}
	for _, statement := range statements {
		t.seen.add(statement)
	}
}

// frontend cuts what a client sends into messages.
type frontend struct {
	buffer  []byte
	started bool
	// prepared are the statements that have a name.
	prepared map[string]string
}

// statements returns the texts of the statements that are asked for in the messages that are
// complete with these bytes; preparing one is not asking for it.
func (f *frontend) statements(data []byte) []string {
	f.buffer = append(f.buffer, data...)
	var texts []string
	for {
		kind, body, err := f.next()
		if err != nil {
			return texts
		}
		switch kind {
		case 'Q':
			texts = append(texts, strings.TrimRight(string(body), "\x00"))
		case 'P':
			name, rest, _ := strings.Cut(string(body), "\x00")
			text, _, _ := strings.Cut(rest, "\x00")
			if name == "" {
				texts = append(texts, text)
			} else {
				f.prepared[name] = text
			}
		case 'B':
			_, rest, _ := strings.Cut(string(body), "\x00") // the portal's name
			if name, _, _ := strings.Cut(rest, "\x00"); name != "" {
				texts = append(texts, f.prepared[name])
			}
		}
	}
}

// next takes one message from the buffer; the first one has no kind.
func (f *frontend) next() (kind byte, body []byte, err error) {
	header := 5
	if !f.started {
		header = 4
	}
	if len(f.buffer) < header {
		return 0, nil, io.ErrUnexpectedEOF
	}
	length := int(binary.BigEndian.Uint32(f.buffer[header-4:]))
	if length < 4 {
		return 0, nil, errors.New("not Postgres's protocol")
	}
	end := header - 4 + length
	if len(f.buffer) < end {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if f.started {
		kind = f.buffer[0]
	}
	body = append([]byte(nil), f.buffer[header:end]...)
	f.buffer, f.started = f.buffer[end:], true
	return kind, body, nil
}
