package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"
)

// maxMediaBytes bounds a message of the service, maxBufferedBytes the sound that waits.
const (
	maxMediaBytes    = 1 << 20
	maxBufferedBytes = 10 * maxSpokenBytes
)

// stream is a media socket to the service.
type stream struct {
	c        *call
	sid      string
	conn     *websocket.Conn
	sequence int

	mu sync.Mutex
	// buffer is what is still to be played, in order; bytes is its sound. returned are the marks to
	// send back now.
	buffer   []played
	bytes    int
	returned []string
}

// played is sound, or a mark.
type played struct {
	sound []byte
	mark  string
}

// stream is <Connect><Stream>: it returns when the socket is closed, or ctx ends.
func (c *call) stream(ctx context.Context, v *node) {
	parameters, err := parametersOf(v)
	if err != nil {
		c.s.o.Log.Warn("the switchboard could not open a media socket", "error", err)
		return
	}
	options := websocket.DialOptions{HTTPClient: c.s.o.Client}
	conn, _, err := websocket.Dial(ctx, v.attr("url"), &options) //nolint:bodyclose // the library closes it
	if err != nil {
		c.s.o.Log.Warn("the switchboard could not open a media socket", "error", err)
		return
	}
	conn.SetReadLimit(maxMediaBytes)
	m := &stream{c: c, sid: newSID("MZ"), conn: conn}
	open, closed := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer closed()
		m.read(context.WithoutCancel(ctx)) // ends with the socket
	})
	if m.open(parameters) == nil && m.pump(open) {
		stop := map[string]any{"accountSid": c.s.o.AccountSID, "callSid": c.sid}
		if m.write("stop", map[string]any{"stop": stop}) == nil {
			_ = conn.Close(websocket.StatusNormalClosure, "") // the service may have closed
		}
	}
	_ = conn.CloseNow() // it is closed already, or lost on purpose
	reader.Wait()
}

// maxParameter is how many characters a parameter of a stream has at most, its name included.
const maxParameter = 500

var errParameter = errors.New("a parameter of the stream is longer than the carrier takes")

// parametersOf are the custom parameters of a stream. Errors: errParameter.
func parametersOf(v *node) (map[string]string, error) {
	parameters := map[string]string{}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		name, value := n.attr("name"), n.attr("value")
		if n.XMLName.Local != "Parameter" {
			continue
		}
		if len(name)+len(value) > maxParameter {
			return nil, errParameter
		}
		parameters[name] = value
	}
	return parameters, nil
}

// open sends the messages that begin a stream.
func (m *stream) open(parameters map[string]string) error {
	connected, _ := json.Marshal(map[string]string{"event": "connected", "protocol": "Call", "version": "1.0.0"}) // it encodes
	if err := m.writeText(connected); err != nil {
		return err
	}
	return m.write("start", map[string]any{"start": map[string]any{
		"accountSid": m.c.s.o.AccountSID, "streamSid": m.sid, "callSid": m.c.sid, "tracks": []string{"inbound"},
		"customParameters": parameters, "mediaFormat": map[string]any{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
	}})
}

// write sends a message with what all have.
func (m *stream) write(event string, body map[string]any) error {
	m.sequence++
	body["event"], body["streamSid"], body["sequenceNumber"] = event, m.sid, strconv.Itoa(m.sequence)
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return m.writeText(data)
}

// writeText is not cut short by the end of the call: the message that it stops is still to come.
func (m *stream) writeText(data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.c.life), m.c.s.o.RequestTimeout)
	defer cancel()
	return m.conn.Write(ctx, websocket.MessageText, data)
}

// pump sends and plays sound in real time until ctx ends, or the service closes. It reports whether
// the service is to be told that the stream stops.
func (m *stream) pump(ctx context.Context) (stops bool) {
	l := m.c.currentLeg()
	p := m.c.s.pace()
	for chunk := 1; p.next(ctx); chunk++ {
		frame, keys := l.listen()
		media := map[string]any{
			"track": "inbound", "chunk": strconv.Itoa(chunk), "timestamp": strconv.Itoa(chunk * int(frameLength.Milliseconds())), "payload": frame,
		}
		if m.write("media", map[string]any{"media": media}) != nil {
			return false
		}
		for _, digit := range keys {
			key := map[string]string{"track": "inbound_track", "digit": digit}
			if m.write("dtmf", map[string]any{"dtmf": key}) != nil {
				return false
			}
		}
		sound, marks := m.next()
		l.play(sound)
		for _, name := range marks {
			if m.write("mark", map[string]any{"mark": map[string]string{"name": name}}) != nil {
				return false
			}
		}
		if m.c.s.failing().CutMedia {
			return false
		}
	}
	return true
}

// next takes 20 ms of what is to be played, and the marks that are reached then.
func (m *stream) next() (sound []byte, marks []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	marks, m.returned = m.returned, nil
	for len(m.buffer) > 0 {
		head := &m.buffer[0]
		if head.mark != "" {
			marks = append(marks, head.mark)
			m.buffer = m.buffer[1:]
			continue
		}
		n := min(frameBytes-len(sound), len(head.sound))
		sound = append(sound, head.sound[:n]...)
		m.bytes -= n
		if head.sound = head.sound[n:]; len(head.sound) > 0 {
			break
		}
		m.buffer = m.buffer[1:]
	}
	return sound, marks
}

// read takes what the service sends until the socket is closed.
func (m *stream) read(ctx context.Context) {
	for {
		_, data, err := m.conn.Read(ctx)
		if err != nil {
			return
		}
		var said struct {
			Event     string `json:"event"`
			StreamSID string `json:"streamSid"`
			Media     struct {
				Payload []byte `json:"payload"`
			} `json:"media"`
			Mark struct {
				Name string `json:"name"`
			} `json:"mark"`
		}
		if json.Unmarshal(data, &said) != nil || said.StreamSID != m.sid {
			m.c.s.o.Log.Warn("the switchboard does not understand a message of the media socket")
			continue
		}
		m.take(said.Event, said.Media.Payload, said.Mark.Name)
	}
}

// take takes a message of the service.
func (m *stream) take(event string, sound []byte, mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch event {
	case "media":
		if m.bytes+len(sound) <= maxBufferedBytes {
			m.buffer, m.bytes = append(m.buffer, played{sound: slices.Clone(sound)}), m.bytes+len(sound)
		}
	case "mark":
		m.buffer = append(m.buffer, played{mark: mark})
	case "clear":
		for _, one := range m.buffer {
			if one.mark != "" {
				m.returned = append(m.returned, one.mark)
			}
		}
		m.buffer, m.bytes = nil, 0
	}
}
