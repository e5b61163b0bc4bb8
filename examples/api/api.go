// Package api calls Parlance's REST API for the examples.
package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Client calls an installation.
type Client struct {
	Ctx context.Context
	// Base ends in /v1.
	Base, Key string
	HTTP      *http.Client
}

// Dev returns a client of the running `parlance dev` with a data directory. It reads dev.env.
func Dev(ctx context.Context, dir string) (*Client, error) {
	content, err := os.ReadFile(filepath.Join(dir, "dev.env"))
	if err != nil {
		return nil, fmt.Errorf("start `go run ./cmd/parlance dev` first: %w", err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	transport := &http.Transport{}
	if ca, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem")); err == nil { // of dev --tls
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &Client{
		Ctx: ctx, Base: values["PARLANCE_BASE_URL"], Key: values["PARLANCE_API_KEY"],
		HTTP: &http.Client{Transport: transport, Timeout: time.Minute},
	}, nil
}

// Post sends a body and returns the answer, which must have the status.
func (c *Client) Post(path string, body Object, status int) (Object, error) {
	return c.call(c.Ctx, http.MethodPost, path, body, status)
}

// Get returns the answer, which must have the status 200.
func (c *Client) Get(path string) (Object, error) {
	return c.call(c.Ctx, http.MethodGet, path, nil, http.StatusOK)
}

// Delete deletes something, also when the program is being stopped.
func (c *Client) Delete(path string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Ctx), 10*time.Second)
	defer cancel()
	_, err := c.call(ctx, http.MethodDelete, path, nil, http.StatusNoContent)
	return err
}

func (c *Client) call(ctx context.Context, method, path string, body Object, status int) (Object, error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != status {
		return nil, fmt.Errorf("%s %s answered %d instead of %d: %s", method, path, answer.StatusCode, status, content)
	}
	decoded := Object{}
	if len(content) > 0 {
		err = json.Unmarshal(content, &decoded)
	}
	return decoded, err
}

// Text is the string at a path of names in decoded JSON; empty when there is none.
func Text(value any, path ...string) string {
	for _, name := range path {
		members, _ := value.(Object)
		value = members[name]
	}
	found, _ := value.(string)
	return found
}
