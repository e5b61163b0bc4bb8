package realtime_test

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// ofSession stands for the reason with which a session ended.
const ofSession = "the session's end_reason"

// closeRow is a way in which a socket is closed.
type closeRow struct {
	code   ws.StatusCode
	reason string
	limits realtime.Limits
	// early is what the client sends along with its request; empty: nothing.
	early []byte
	// held is what another transaction does between the socket's admission and its joining; empty:
	// nothing.
	held string
	do   func(t *testing.T, f *fixture, made sessions.Created, c *rawClient)
}

// operator is the reason of the sessions that the rows with ofSession end.
const operator = "by the operator"

var closeRows = []closeRow{
	{code: 1000, reason: ofSession, do: ending(sessions.Completed)},
	{code: 1011, reason: ofSession, do: ending(sessions.Failed)},
	{code: 1011, reason: "internal_error", held: "ALTER TABLE session_connections RENAME TO gone"}, // an internal error
	{code: 1002, reason: "protocol_error", do: func(_ *testing.T, _ *fixture, _ sessions.Created, c *rawClient) {
		c.write([]byte{0x81, 0x01, '{'}) // not masked
	}},
	{code: 1007, reason: "invalid_utf8", do: func(_ *testing.T, _ *fixture, _ sessions.Created, c *rawClient) {
		c.send(ws.NewTextFrame([]byte("{\"type\":\"\xff\"}")))
	}},
	{
		code:   1008,
		reason: "session-closed",
		held:   "UPDATE sessions SET status = 'completed', end_reason = 'operator', ended_at = now()",
	},
	{
		code:   1009,
		reason: "frame_too_large",
		limits: realtime.Limits{MaxMessageBytes: 1000},
		do: func(_ *testing.T, _ *fixture, _ sessions.Created, c *rawClient) {
			c.send(ws.NewTextFrame(make([]byte, 1001)))
		},
	},
	{code: 1012, reason: "reconnect", do: func(_ *testing.T, f *fixture, _ sessions.Created, _ *rawClient) { f.stop() }},
	{
		code:   4408,
		reason: "slow_reader",
		limits: realtime.Limits{MaxUnwrittenBytes: 100},
		do: func(*testing.T, *fixture, sessions.Created, *rawClient) {
			// The first event is more than may wait.
		},
	},
	{
		code:   4408,
		reason: "slow_writer",
		// A pong is due before the message is given up, and cannot come inside it.
		limits: realtime.Limits{ReadTimeout: 2 * time.Second, PingInterval: 500 * time.Millisecond, PongTimeout: time.Second},
		early:  []byte{0x81, 0x85, 0, 0, 0, 0, '{'}, // the rest does not follow
		do: func(*testing.T, *fixture, sessions.Created, *rawClient) {
			// The message has begun before the first ping.
		},
	},
	{code: 4409, reason: "replaced", do: func(t *testing.T, f *fixture, made sessions.Created, _ *rawClient) {
		f.raw(t, made.ChatURL, "realtime")
	}},
	{
		code:   4429,
		reason: "flood",
		limits: realtime.Limits{Rates: realtime.Rates{FramesPerSecond: 1e-3, FrameBurst: 5}},
		do: func(_ *testing.T, _ *fixture, _ sessions.Created, c *rawClient) {
			for range 20 {
				c.send(ws.NewTextFrame([]byte(`{"type":"user_activity"}`)))
			}
		},
	},
}

func ending(status sessions.Status) func(*testing.T, *fixture, sessions.Created, *rawClient) {
	return func(t *testing.T, f *fixture, made sessions.Created, _ *rawClient) {
		if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: status, Reason: operator}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryClose produces each close of docs/realtime.md on a real socket, in both dialects, and
// finds no other close in the code.
func TestEveryClose(t *testing.T) {
	t.Parallel()
	produced := map[string]bool{}
	for _, row := range closeRows {
		produced[fmt.Sprintf("%d %s", row.code, row.reason)] = true
		t.Run(fmt.Sprintf("%d %s", row.code, row.reason), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, row.limits)
			for _, protocol := range []string{"realtime", "convai"} {
				if row.code == 1012 && protocol == "convai" { // the server stops once
					g := f.beside(t)
					row.check(t, g, protocol)
					continue
				}
				row.check(t, f, protocol)
			}
		})
	}
	documented := map[string]bool{}
	for _, one := range documentedCloses(t) {
		documented[one] = true
	}
	if diff := cmp.Diff(documented, produced); diff != "" {
		t.Errorf("docs/realtime.md and what is produced here differ (-docs +here):\n%s", diff)
	}
	for _, one := range closesInCode(t) {
		if !slices.ContainsFunc(documentedCloses(t), func(known string) bool { return strings.HasPrefix(known+" ", one+" ") }) {
			t.Errorf("docs/realtime.md does not have the close %q of the code", one)
		}
	}
}

// check closes a socket of the dialect in the row's way.
func (row closeRow) check(t *testing.T, f *fixture, protocol string) {
	t.Helper()
	made := f.create(t, sessions.Text)
	var c *rawClient
	if row.held != "" {
		c = f.between(t, made, protocol, row.held)
		defer f.exec(t, "ALTER TABLE IF EXISTS gone RENAME TO session_connections")
	} else {
		c = f.raw(t, made.ChatURL, protocol, row.early...)
		if row.limits.MaxUnwrittenBytes == 0 {
			c.first()
		}
		row.do(t, f, made, c)
	}
	code, reason := c.closed()
	want := row.reason
	if want == ofSession {
		want = operator
	}
	if code != row.code || reason != want {
		t.Errorf("%s: closed with %d %q", protocol, code, reason)
	}
}

// exec runs a statement with all rights.
func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := f.db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Error(err)
	}
}

// between runs a statement between the admission of a client's socket and its joining.
func (f *fixture) between(t *testing.T, made sessions.Created, protocol, statement string) (c *rawClient) {
	t.Helper()
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(
			ctx,
			"SELECT FROM sessions WHERE id = ? AND tenant_id = ? FOR UPDATE",
			made.Session.ID,
			f.ref.TenantID,
		)
		if err != nil {
			return err
		}
		c = f.raw(t, made.ChatURL, protocol)
		f.awaitSession(t, made.Session.ID, "a socket that waits to join", func(sessions.Session) bool {
			var waiting int
			if err := f.db.NewRaw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
				Scan(ctx, &waiting); err != nil {
				t.Fatal(err)
			}
			return waiting > 0
		})
		_, err = tx.ExecContext(ctx, statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rawClient is a client that reads and writes frames.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	from io.Reader
}

// raw opens a socket. The bytes early are sent along with the request.
func (f *fixture) raw(t *testing.T, published, protocol string, early ...byte) *rawClient {
	t.Helper()
	dialling, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dialer := ws.Dialer{
		Protocols: []string{protocol},
		WrapConn:  func(conn net.Conn) net.Conn { return &earlyConn{Conn: conn, early: early} },
	}
	conn, buffered, _, err := dialer.Dial(dialling, f.url(published))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c := &rawClient{t: t, conn: conn, from: conn}
	if buffered != nil {
		c.from = io.MultiReader(buffered, conn)
	}
	c.from = bufio.NewReader(c.from)
	return c
}

// earlyConn sends early along with what is written first.
type earlyConn struct {
	net.Conn

	early []byte
}

func (c *earlyConn) Write(data []byte) (int, error) {
	n, err := c.Conn.Write(slices.Concat(data, c.early))
	c.early = nil
	return min(n, len(data)), err
}

// write writes bytes. The server may have closed already.
func (c *rawClient) write(bytes []byte) { _, _ = c.conn.Write(bytes) }

func (c *rawClient) send(frame ws.Frame) { _ = ws.WriteFrame(c.conn, ws.MaskFrame(frame)) }

// first reads the first event.
func (c *rawClient) first() {
	c.t.Helper()
	if frame, err := ws.ReadFrame(c.from); err != nil || frame.Header.OpCode != ws.OpText {
		c.t.Fatalf("the first frame: %+v, %v", frame.Header, err)
	}
}

// closed reads to the close frame.
func (c *rawClient) closed() (ws.StatusCode, string) {
	c.t.Helper()
	for {
		frame, err := ws.ReadFrame(c.from)
		if err != nil {
			c.t.Fatalf("no close frame: %v", err)
		}
		if frame.Header.OpCode == ws.OpClose {
			return ws.ParseCloseFrameData(frame.Payload)
		}
	}
}

var closeLine = regexp.MustCompile(`(?m)^\| (\d{4}) \| ([^|]+) \|`)

// documentedCloses are the codes and reasons of the page's table.
func documentedCloses(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "realtime.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Closing\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var closes []string
	for _, line := range closeLine.FindAllStringSubmatch(section, -1) {
		closes = append(closes, line[1]+" "+strings.ReplaceAll(line[2], "`", ""))
	}
	if len(closes) == 0 {
		t.Fatal("the page has no table of closes")
	}
	return closes
}

// closesInCode is the endings of this package with code and reason, without those that send no
// close frame, and the close codes of package live.
func closesInCode(t *testing.T) []string {
	t.Helper()
	set := token.NewFileSet()
	values := map[string]int{}
	var closes []string
	for _, path := range []string{filepath.Join("..", "..", "live", "event.go"), "close.go"} {
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && strings.HasPrefix(strings.ToLower(name.Name), "close") {
						if number, ok := n.Values[i].(*ast.BasicLit); ok && number.Kind == token.INT {
							values[name.Name], _ = strconv.Atoi(number.Value)
							if name.IsExported() && name.Name != "CloseGone" { // no socket gets that one
								closes = append(closes, number.Value)
							}
						}
					}
				}
			case *ast.CompositeLit:
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "ending" {
					closes = append(closes, endingIn(n, values)...)
				}
			}
			return true
		})
	}
	if len(closes) < 12 {
		t.Fatalf("the code has only %q", closes)
	}
	return closes
}

// endingIn is the code and reason of a literal ending; none when it is silent or computed.
func endingIn(literal *ast.CompositeLit, values map[string]int) []string {
	code, reason := 0, ""
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := pair.Key.(*ast.Ident)
		value := pair.Value
		if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 { // int(live.CloseSlow)
			value = call.Args[0]
		}
		switch of := value.(type) {
		case *ast.SelectorExpr:
			if key.Name == "code" {
				code = values[of.Sel.Name]
			}
		case *ast.Ident:
			if key.Name == "code" {
				code = values[of.Name]
			}
			if key.Name == "silent" {
				return nil
			}
		case *ast.BasicLit:
			if key.Name == "reason" {
				reason = constant.StringVal(constant.MakeFromLiteral(of.Value, of.Kind, 0))
			}
		}
	}
	if code == 0 || reason == "" {
		return nil
	}
	return []string{fmt.Sprintf("%d %s", code, reason)}
}
