package simulated_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/simulated"
)

// read is the next message of a media socket.
func read(t *testing.T, conn *websocket.Conn) map[string]any {
	t.Helper()
	_, data, err := conn.Read(t.Context())
	var m map[string]any
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// untilEvent reads to the first message with an event, and returns all.
func untilEvent(t *testing.T, conn *websocket.Conn, event string) (all []map[string]any) {
	t.Helper()
	for {
		m := read(t, conn)
		if all = append(all, m); m["event"] == event {
			return all
		}
	}
}

func send(t *testing.T, conn *websocket.Conn, message string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

// talk has a phone answered by a media socket.
func (f *fixture) talk() (p *phone, conn *websocket.Conn, stream string, id carrier.CallID) {
	f.t.Helper()
	f.on(carrier.Asked, carrier.Connect{
		URL: "ws" + strings.TrimPrefix(f.url, "http") + "/media", Parameters: map[string]string{"token": `"1`},
	})
	p = f.phone(alice, answers)
	id = f.place(alice)
	conn = <-f.media
	f.t.Cleanup(func() { _ = conn.CloseNow() })
	connected, start := read(f.t, conn), read(f.t, conn)
	begun, _ := start["start"].(map[string]any)
	stream, _ = start["streamSid"].(string)
	if connected["event"] != "connected" || start["event"] != "start" || begun["callSid"] != string(id) || begun["streamSid"] != stream ||
		begun["customParameters"].(map[string]any)["token"] != `"1` {
		f.t.Fatalf("the stream began with %v, %v", connected, start)
	}
	p.want(simulated.EventRing)
	p.want(simulated.EventAnswered)
	return p, conn, stream, id
}

// TestMedia: sound, keys, marks and their clearing, and the end by the phone.
func TestMedia(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, conn, stream, _ := f.talk()
	p.Speak([]byte(strings.Repeat("spoken", 100)))
	p.Press("5#")
	heard := ""
	for !strings.Contains(heard, strings.Repeat("spoken", 100)) {
		all := untilEvent(t, conn, "media")
		media, _ := all[len(all)-1]["media"].(map[string]any)
		var frame []byte
		encoded, _ := json.Marshal(media["payload"])
		if err := json.Unmarshal(encoded, &frame); err != nil || len(frame) != 160 || media["track"] != "inbound" {
			t.Fatalf("frame %v: %v", media, err)
		}
		heard += string(frame)
		for _, m := range all {
			if m["event"] == "dtmf" && m["dtmf"].(map[string]any)["digit"] != "5" && m["dtmf"].(map[string]any)["digit"] != "#" {
				t.Errorf("key %v", m)
			}
		}
	}
	sound := strings.Repeat("AAAA", 100) // 300 bytes
	send(t, conn, `{"event":"media","streamSid":"`+stream+`","media":{"payload":"`+sound+`"}}`)
	send(t, conn, `{"event":"mark","streamSid":"`+stream+`","mark":{"name":"one"}}`)
	all := untilEvent(t, conn, "mark")
	if name := all[len(all)-1]["mark"].(map[string]any)["name"]; name != "one" {
		t.Errorf("mark %v", name)
	}
	p.hears(make([]byte, 300))
	send(t, conn, `{"event":"media","streamSid":"`+stream+`","media":{"payload":"`+strings.Repeat(sound, 2000)+`"}}`)
	send(t, conn, `{"event":"mark","streamSid":"`+stream+`","mark":{"name":"two"}}`)
	send(t, conn, `{"event":"clear","streamSid":"`+stream+`"}`)
	all = untilEvent(t, conn, "mark")
	if name := all[len(all)-1]["mark"].(map[string]any)["name"]; name != "two" || len(all) > 3000 {
		t.Errorf("mark %v behind %d messages", name, len(all))
	}
	p.HangUp()
	untilEvent(t, conn, "stop")
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", err)
	}
	f.untilStatus(carrier.Completed)
	p.want(simulated.EventHungUp)
}

// TestMediaClosed: a service that closes its socket hangs up, and a socket can be cut.
func TestMediaClosed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, conn, _, _ := f.talk()
	_ = conn.Close(websocket.StatusNormalClosure, "")
	p.want(simulated.EventHungUp)
	f.untilStatus(carrier.Completed)
	g := newFixture(t)
	_, conn, _, _ = g.talk()
	g.board.Fail(simulated.Faults{CutMedia: true})
	for {
		_, _, err := conn.Read(t.Context())
		if err == nil {
			continue
		}
		if websocket.CloseStatus(err) != -1 {
			t.Errorf("closed with %v", err)
		}
		break
	}
}

// TestDoor: a terminal is a phone.
func TestDoor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.on(carrier.Asked, carrier.Connect{URL: "ws" + strings.TrimPrefix(f.url, "http") + "/media"})
	if err := f.Configure(t.Context(), own, f.hook(carrier.Asked)); err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.url, "http")+"/phones/"+url.PathEscape(alice), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	send(t, conn, `{"event":"dial","to":"`+own+`"}`)
	if m := read(t, conn); m["event"] != "answered" {
		t.Fatalf("got %v", m)
	}
	media := <-f.media
	defer func() { _ = media.CloseNow() }()
	read(t, media)
	stream, _ := read(t, media)["streamSid"].(string)
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte("said")); err != nil {
		t.Fatal(err)
	}
	send(t, conn, `{"event":"dtmf","digit":"1"}`)
	untilEvent(t, media, "dtmf")
	send(t, media, `{"event":"media","streamSid":"`+stream+`","media":{"payload":"QUJD"}}`)
	if kind, sound, err := conn.Read(t.Context()); kind != websocket.MessageBinary || string(sound) != "ABC" || err != nil {
		t.Errorf("heard %q, %v", sound, err)
	}
	send(t, conn, `{"event":"hang_up"}`)
	if m := read(t, conn); m["event"] != "hung_up" {
		t.Errorf("got %v", m)
	}
	untilEvent(t, media, "stop")
	f.place(alice)
	if m := read(t, conn); m["event"] != "ring" || m["from"] != own {
		t.Errorf("got %v", m)
	}
	_ = conn.Close(websocket.StatusNormalClosure, "") // a terminal that has gone is a phone that hangs up
	f.untilStatus(carrier.Busy)
	res, err := http.Get(f.url + "/phones/1")
	if err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("got %v, %v", res, err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}
