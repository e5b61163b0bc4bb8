package client

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"parlance.dev/parlance/cli/term"
)

// SocketClient is Client for the handshake of a WebSocket, which HTTP/2 does not have.
func (i Installation) SocketClient() (*http.Client, error) {
	made, err := i.Client()
	if err != nil {
		return nil, err
	}
	if transport, ok := made.Transport.(*http.Transport); ok {
		transport.ForceAttemptHTTP2 = false
		if transport.TLSClientConfig == nil {
			transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	return made, nil
}

// SocketRefusal is the problem with which the server answered the handshake of a WebSocket. It is
// err when there is no answer.
func SocketRefusal(answer *http.Response, err error) error {
	if answer == nil || answer.Body == nil {
		return err
	}
	const most = 1024 // websocket.Dial keeps as much
	text, readErr := io.ReadAll(io.LimitReader(answer.Body, most))
	var refused struct {
		Detail string `json:"detail"`
	}
	if readErr != nil || json.Unmarshal(text, &refused) != nil || refused.Detail == "" {
		return fmt.Errorf("the server answered %s", term.Clean(answer.Status))
	}
	return errors.New(term.Clean(refused.Detail))
}
