package websocket_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/coder/websocket"

	"parlance.dev/parlance/server/realtime/websocket"
)

const patience = time.Minute

// limits have generous timeouts, so that no test depends on the speed of the machine.
func limits() websocket.Limits {
	return websocket.Limits{MaxMessageBytes: 1 << 16, ReadTimeout: patience, WriteTimeout: patience}
}

// serve starts a server whose handler gets each connection.
func serve(t *testing.T, l websocket.Limits, handle func(*websocket.Conn)) (host string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_1")
		if !websocket.IsUpgrade(r) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		protocol := ""
		if slices.Contains(websocket.OfferedProtocols(r), "realtime") {
			protocol = "realtime"
		}
		conn, err := websocket.Accept(w, r, protocol, l)
		if err != nil {
			t.Error(err)
			return
		}
		handle(conn)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// raw is a client that writes bytes and reads frames.
type raw struct {
	net.Conn
	reader *bufio.Reader
}

const handshake = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\n" +
	"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Protocol: openai-insecure-api-key.x, realtime\r\n" +
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// open does the handshake, with early behind the request in the same write.
func open(t *testing.T, host string, early []byte) *raw {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(append([]byte(handshake), early...)); err != nil {
		t.Fatal(err)
	}
	c := &raw{conn, bufio.NewReader(conn)}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The key and the answer are those of RFC 6455, 1.3.
	if answer.StatusCode != 101 ||
		answer.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" ||
		answer.Header.Get("Sec-WebSocket-Protocol") != "realtime" {
		t.Fatalf("the handshake: %+v", answer)
	}
	return c
}

// frame is a client's frame; first is its first byte.
func frame(first byte, payload string) []byte {
	out := []byte{first}
	switch n := len(payload); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	mask := [4]byte{1, 2, 3, 250}
	out = append(out, mask[:]...)
	for i := range len(payload) {
		out = append(out, payload[i]^mask[i%4])
	}
	return out
}

// received reads one frame of the server.
func (c *raw) received(t *testing.T) (first byte, payload string) {
	t.Helper()
	head := make([]byte, 2, 10)
	if _, err := io.ReadFull(c.reader, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, head[1]) // all are short
	if _, err := io.ReadFull(c.reader, body); err != nil {
		t.Fatal(err)
	}
	return head[0], string(body)
}

// got is the messages that a server read, and the error that ended its reading.
type got struct {
	messages []string
	err      error
}

// outcomes are the results of readAll, one a connection.
type outcomes <-chan got

func (o outcomes) next(t *testing.T) got {
	t.Helper()
	select {
	case g := <-o:
		return g
	case <-time.After(patience):
		t.Fatal("the server still reads")
		return got{}
	}
}

// readAll starts a server that reads each connection to its end.
func readAll(t *testing.T, l websocket.Limits, rate func(int) websocket.Verdict) (host string, results outcomes) {
	out := make(chan got, 1)
	return serve(t, l, func(c *websocket.Conn) {
		c.Rate = rate
		defer c.CloseNow()
		var g got
		for {
			m, err := c.Read()
			if err != nil {
				g.err = err
				out <- g
				return
			}
			text := string(m.Data)
			if !m.Text {
				text = "binary:" + text
			}
			if m.Refused {
				text = "refused:" + text
			}
			g.messages = append(g.messages, text)
		}
	}), out
}

func TestRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 40_000)
	closed := frame(0x88, "\x03\xe8bye")
	rows := []struct {
		name     string
		sent     []byte
		messages []string
		err      error
		code     int
	}{
		{"text", join(frame(0x81, "hello"), frame(0x82, "\xff\x00"), closed), []string{"hello", "binary:\xff\x00"}, nil, 1000},
		{
			"long", join(frame(0x81, strings.Repeat("b", 126)), frame(0x81, long), frame(0x81, ""), closed),
			[]string{strings.Repeat("b", 126), long, ""},
			nil, 1000,
		},
		{
			"pieces with a ping between",
			join(frame(0x01, "one "), frame(0x89, "p"), frame(0x00, "two "), frame(0x80, "thr\u00e9e"), closed),
			[]string{"one two thr\u00e9e"},
			nil, 1000,
		},
		{"a character in two pieces", join(frame(0x01, "\xc3"), frame(0x80, "\xa9"), closed), []string{"é"}, nil, 1000},
		{"close without a code", frame(0x88, ""), nil, nil, 1005},
		{"too large at once", frame(0x81, strings.Repeat("a", 1<<16+1)), nil, websocket.ErrTooLarge, 0},
		{"too large in pieces", join(frame(0x01, long), frame(0x80, long)), nil, websocket.ErrTooLarge, 0},
		{
			"promised too large",
			[]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4},
			nil,
			websocket.ErrTooLarge,
			0,
		},
		{"not UTF-8", frame(0x81, "\xff"), nil, websocket.ErrText, 0},
		{"not masked", []byte{0x81, 0x01, 'a'}, nil, websocket.ErrProtocol, 0},
		{"reserved bit", frame(0xc1, "a"), nil, websocket.ErrProtocol, 0},
		{"unknown opcode", frame(0x83, "a"), nil, websocket.ErrProtocol, 0},
		{"continues nothing", frame(0x80, "a"), nil, websocket.ErrProtocol, 0},
		{"text within pieces", join(frame(0x01, "a"), frame(0x81, "b")), nil, websocket.ErrProtocol, 0},
		{"long ping", frame(0x89, strings.Repeat("p", 126)), nil, websocket.ErrProtocol, 0},
		{"ping in pieces", frame(0x09, "p"), nil, websocket.ErrProtocol, 0},
		{"close of one byte", frame(0x88, "\x03"), nil, websocket.ErrProtocol, 0},
		{"close with 1005", frame(0x88, "\x03\xed"), nil, websocket.ErrProtocol, 0},
		{"close with 999", frame(0x88, "\x03\xe7"), nil, websocket.ErrProtocol, 0},
		{"close with 1004", frame(0x88, "\x03\xec"), nil, websocket.ErrProtocol, 0},
		{"close with 1015", frame(0x88, "\x03\xf7"), nil, websocket.ErrProtocol, 0},
		{"close with 5000", frame(0x88, "\x13\x88"), nil, websocket.ErrProtocol, 0},
		{"close with 1014", frame(0x88, "\x03\xf6"), nil, nil, 1014},
		{"close with 1012 and no text", frame(0x88, "\x03\xf4\xff"), nil, websocket.ErrProtocol, 0},
		{"length of a ping written long", []byte{0x89, 0xfe, 0, 1, 1, 2, 3, 4, 'p'}, nil, websocket.ErrProtocol, 0},
		{"length with its highest bit", []byte{0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4}, nil, websocket.ErrProtocol, 0},
		{"cut in a header", []byte{0x81}, nil, io.EOF, 0},
		{"cut in a payload", frame(0x81, long)[:200], nil, io.EOF, 0},
	}
	for _, row := range rows {
		for _, early := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				host, results := readAll(t, limits(), nil)
				var c *raw
				if early { // with the handshake, in one write
					c = open(t, host, row.sent)
				} else {
					c = open(t, host, nil)
					for _, one := range row.sent { // byte by byte
						if len(row.sent) > 1000 {
							_, _ = c.Write(row.sent)
							break
						}
						_, _ = c.Write([]byte{one}) // the server may have closed already
					}
				}
				if errors.Is(row.err, io.EOF) {
					_ = c.Close()
				}
				g := results.next(t)
				if strings.Join(g.messages, "|") != strings.Join(row.messages, "|") {
					t.Errorf("read %.200q, want %.200q", g.messages, row.messages)
				}
				closing, isClose := errors.AsType[*websocket.CloseError](g.err)
				switch {
				case row.code != 0 && (!isClose || closing.Code != row.code):
					t.Errorf("ended with %v, want code %d", g.err, row.code)
				case row.code == 0 && !errors.Is(g.err, row.err) && !errors.Is(row.err, io.EOF),
					errors.Is(row.err, io.EOF) && (g.err == nil || isClose):
					t.Errorf("ended with %v, want %v", g.err, row.err)
				}
			})
		}
	}
}

func join(frames ...[]byte) []byte { return bytes.Join(frames, nil) }

func TestControlIsAnswered(t *testing.T) {
	t.Parallel()
	host, results := readAll(t, limits(), nil)
	c := open(t, host, nil)
	_, _ = c.Write(join(frame(0x89, "abc"), frame(0x88, "\x0f\xa0why")))
	if first, payload := c.received(t); first != 0x8a || payload != "abc" {
		t.Errorf("the pong: %x %q", first, payload)
	}
	if first, payload := c.received(t); first != 0x88 || payload != "\x0f\xa0" {
		t.Errorf("the close frame: %x %q", first, payload)
	}
	if g := results.next(t); g.err == nil || !strings.Contains(g.err.Error(), `4000 "why"`) {
		t.Errorf("the server: %v", g.err)
	}
}

// fromThird is a rate limit that refuses from the third frame on and has enough at the fifth.
func fromThird() func(int) websocket.Verdict {
	frames := 0
	return func(int) websocket.Verdict {
		frames++
		switch {
		case frames >= 5:
			return websocket.Flooded
		case frames >= 3:
			return websocket.Refused
		}
		return websocket.Allowed
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	host, results := readAll(t, limits(), fromThird())
	c := open(t, host, nil)
	_, _ = c.Write(join(frame(0x81, "one"), frame(0x89, "answered"), frame(0x81, "three"),
		frame(0x89, "not answered"), frame(0x8a, "")))
	g := results.next(t)
	if strings.Join(g.messages, "|") != "one|refused:three" || !errors.Is(g.err, websocket.ErrFlood) {
		t.Errorf("read %q, ended with %v", g.messages, g.err)
	}
	if _, payload := c.received(t); payload != "answered" {
		t.Errorf("the pong: %q", payload)
	}
	if _, err := c.reader.ReadByte(); err == nil {
		t.Error("the refused ping was answered")
	}
}

// TestUnfinishedMessage has clients that begin a message and do not finish it. A client that sends
// nothing may stay.
func TestUnfinishedMessage(t *testing.T) {
	t.Parallel()
	l := limits()
	l.ReadTimeout = 50 * time.Millisecond
	host, results := readAll(t, l, nil)
	quiet := open(t, host, nil)
	for _, part := range [][]byte{{0x81}, frame(0x81, "hello")[:8], frame(0x01, "a piece")} {
		c := open(t, host, part)
		if g := results.next(t); !errors.Is(g.err, websocket.ErrReadTimeout) {
			t.Errorf("after %x: %v", part, g.err)
		}
		_ = c.Close()
	}
	_, _ = quiet.Write(join(frame(0x81, "hello"), frame(0x88, "")))
	if g := results.next(t); strings.Join(g.messages, "") != "hello" {
		t.Errorf("the quiet client: %q, %v", g.messages, g.err)
	}
}

// TestWrite sends messages of many lengths to a client of another library.
func TestWrite(t *testing.T) {
	t.Parallel()
	var messages [][]byte
	for _, n := range []int{0, 1, 125, 126, 65535, 65536, 200_000, 3} {
		messages = append(messages, bytes.Repeat([]byte("x"), n))
	}
	host := serve(t, limits(), func(c *websocket.Conn) {
		if err := c.Write(messages); err != nil {
			t.Error(err)
		}
		if err := c.Close(4000, strings.Repeat("r", 123)); err != nil {
			t.Error(err)
		}
		if err := c.Write(messages); !errors.Is(err, websocket.ErrClosing) {
			t.Errorf("behind the close frame: %v", err)
		}
		closing, ok := errors.AsType[*websocket.CloseError](drain(c))
		if !ok || closing.Code != 4000 {
			t.Errorf("the client's close: %v", closing)
		}
		c.CloseNow()
	})
	conn, answer, err := client.Dial(t.Context(), "ws://"+host, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	conn.SetReadLimit(-1)
	for i, want := range messages {
		if _, got, err := conn.Read(t.Context()); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("message %d: %d bytes, want %d (%v)", i, len(got), len(want), err)
		}
	}
	if _, _, err = conn.Read(t.Context()); client.CloseStatus(err) != 4000 {
		t.Errorf("the end: %v", err)
	}
}

func drain(c *websocket.Conn) error {
	for {
		if _, err := c.Read(); err != nil {
			return err
		}
	}
}

func TestSlowClient(t *testing.T) {
	t.Parallel()
	l := limits()
	l.WriteTimeout = 50 * time.Millisecond
	failed := make(chan error, 1)
	host := serve(t, l, func(c *websocket.Conn) {
		defer c.CloseNow()
		big := [][]byte{make([]byte, 1<<20)}
		for {
			if err := c.Write(big); err != nil {
				failed <- err
				return
			}
		}
	})
	open(t, host, nil) // and reads nothing
	if err := <-failed; !errors.Is(err, websocket.ErrWriteTimeout) {
		t.Errorf("writing ended with %v", err)
	}
}

// TestHandshakes accepts the variants of the handshake that some clients and proxies send.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	host := serve(t, limits(), func(c *websocket.Conn) { _ = drain(c) })
	for _, change := range [][2]string{
		{"Connection: keep-alive, Upgrade", "Connection: keep-alive\r\nConnection: Upgrade"},
		{"Upgrade: websocket", "Upgrade: h2c, WebSocket"},
		{"insecure-api-key.x", "insecure-api-key.b64/+=="},
		{"Protocol: openai", "Protocol: another\r\nSec-WebSocket-Protocol: openai"},
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write([]byte(strings.Replace(handshake, change[0], change[1], 1)))
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != 101 ||
			answer.Header.Get("Sec-WebSocket-Protocol") != "realtime" ||
			answer.Header.Get("X-Request-Id") != "req_1" {
			t.Errorf("with %q: %+v %v", change[1], answer, err)
		}
		_ = conn.Close()
	}
}

func TestIsUpgrade(t *testing.T) {
	t.Parallel()
	for _, change := range []struct{ header, value string }{
		{"Connection", "keep-alive"}, {"Upgrade", "h2c"}, {"Sec-WebSocket-Version", "8"}, {"Sec-WebSocket-Key", "short"}, {"", ""},
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(handshake)))
		if err != nil {
			t.Fatal(err)
		}
		if change.header != "" {
			r.Header.Set(change.header, change.value)
		}
		if got := websocket.IsUpgrade(r); got != (change.header == "") {
			t.Errorf("with %v: %v", change, got)
		}
	}
	r, err := http.ReadRequest(
		bufio.NewReader(strings.NewReader(strings.Replace(handshake, "Host", "Content-Length: 2\r\nHost", 1) + "{}")),
	)
	if err != nil || websocket.IsUpgrade(r) {
		t.Errorf("with a body: %v", err)
	}
}

// FuzzRead feeds any bytes as a client: reading ends, and no message is over the limit.
func FuzzRead(f *testing.F) {
	f.Add(join(frame(0x81, "hello"), frame(0x88, "")))
	f.Add(join(frame(0x01, "a"), frame(0x89, "b"), frame(0x80, "c")))
	f.Add(frame(0x81, strings.Repeat("long", 200)))
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, server := net.Pipe()
		go func() {
			_, _ = io.Copy(io.Discard, client)
		}()
		go func() {
			_, _ = client.Write(sent)
			_ = client.Close()
		}()
		w := &hijacked{ResponseRecorder: httptest.NewRecorder(), conn: server}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(handshake)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := websocket.Accept(w, r, "",
			websocket.Limits{MaxMessageBytes: 512, ReadTimeout: patience, WriteTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		for {
			m, err := c.Read()
			if err != nil {
				return
			}
			if len(m.Data) > 512 {
				t.Fatalf("a message of %d bytes", len(m.Data))
			}
		}
	})
}

// hijacked is a response writer whose connection is conn.
type hijacked struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (w *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.conn, bufio.NewReadWriter(bufio.NewReader(w.conn), bufio.NewWriter(w.conn)), nil
}
