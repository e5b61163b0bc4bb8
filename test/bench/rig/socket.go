package rig

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// handshakePatience bounds opening a socket.
const handshakePatience = time.Minute

// Frames as RFC 6455, 5.2 has them.
const (
	OpText  = 0x1
	OpClose = 0x8
	OpPing  = 0x9
	OpPong  = 0xA
	final   = 0x80
	masked  = 0x80
)

// Dial opens a WebSocket. The reader has a buffer of that many bytes; frames that fit it are read
// without a copy.
func Dial(ctx context.Context, address string, bufferBytes int) (net.Conn, *bufio.Reader, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the address of a socket: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting: %w", err)
	}
	reader, err := shakeHands(conn, target, bufferBytes)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, reader, nil
}

// shakeHands makes a connection a WebSocket.
func shakeHands(conn net.Conn, target *url.URL, bufferBytes int) (*bufio.Reader, error) {
	_ = conn.SetDeadline(time.Now().Add(handshakePatience)) // the connection is open
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", target.RequestURI(), target.Host)
	if err != nil {
		return nil, fmt.Errorf("asking for a socket: %w", err)
	}
	reader := bufio.NewReaderSize(conn, bufferBytes)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the handshake: %w", err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		text, _ := io.ReadAll(response.Body) // whatever there is
		return nil, fmt.Errorf("the socket was refused: %d %s", response.StatusCode, text)
	}
	_ = conn.SetDeadline(time.Time{}) // the connection is open
	return reader, nil
}

// Frame is a client's frame; its mask is all zero, which leaves the payload as it is.
func Frame(op byte, payload []byte) []byte {
	out := []byte{final | op, 0}
	switch n := len(payload); {
	case n < 126:
		out[1] = byte(n)
	case n < 1<<16:
		out[1] = 126
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	default:
		out[1] = 127
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	out[1] |= masked
	return append(append(out, 0, 0, 0, 0), payload...)
}

// ReadFrame reads a frame of the server, which is whole and not masked. The payload is good until
// the next one.
func ReadFrame(reader *bufio.Reader) (op byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(reader, head[:2]); err != nil {
		return 0, nil, err
	}
	op = head[0] & 0xF
	n := uint64(head[1] & 0x7F)
	switch n {
	case 126:
		if _, err := io.ReadFull(reader, head[:2]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		if _, err := io.ReadFull(reader, head[:8]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(head[:8])
	}
	if n <= uint64(reader.Size()) {
		if payload, err = reader.Peek(int(n)); err != nil {
			return 0, nil, err
		}
		_, err = reader.Discard(int(n))
		return op, payload, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(reader, payload)
	return op, payload, err
}
