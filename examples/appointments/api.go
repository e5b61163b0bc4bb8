package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// object is a JSON object.
type object = map[string]any

// api is Parlance's REST API with the key of a running `parlance dev`.
type api struct {
	ctx    context.Context //nolint:containedctx // the program's
	base   string
	key    string
	client *http.Client
}

// newAPI reads dev.env, which `parlance dev` writes.
func newAPI(ctx context.Context, dir string) (*api, error) {
	file, err := os.Open(filepath.Join(dir, "dev.env"))
	if err != nil {
		return nil, fmt.Errorf("start `go run ./cmd/parlance dev` first: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	values := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		values[name] = strings.Trim(value, `"'`)
	}
	a := &api{ctx: ctx, base: values["PARLANCE_BASE_URL"], key: values["PARLANCE_API_KEY"], client: &http.Client{Timeout: time.Minute}}
	if ca, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem")); err == nil { // of dev --tls
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(ca)
		a.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	}
	return a, nil
}

func (a *api) post(path string, body object, want int) (object, error) {
	return a.call(http.MethodPost, path, body, want)
}

func (a *api) get(path string) (object, error) {
	return a.call(http.MethodGet, path, nil, http.StatusOK)
}

// delete removes something also when the program is being stopped.
func (a *api) delete(path string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 10*time.Second)
	defer cancel()
	last := *a
	last.ctx = ctx
	_, err := last.call(http.MethodDelete, path, nil, http.StatusNoContent)
	return err
}

// call checks the status and returns the answer.
func (a *api) call(method, path string, body object, want int) (object, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(a.ctx, method, a.base+path, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	req.Header.Set("Content-Type", "application/json")
	answer, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != want {
		return nil, fmt.Errorf("%s %s answered %d instead of %d: %s", method, path, answer.StatusCode, want, read)
	}
	var decoded object
	if len(read) > 0 {
		if err := json.Unmarshal(read, &decoded); err != nil {
			return nil, errors.Join(fmt.Errorf("%s %s", method, path), err)
		}
	}
	return decoded, nil
}

// text is a string in an object; empty when there is none.
func text(o object, name string) string {
	value, _ := o[name].(string)
	return value
}

// list is the objects in an array of an object.
func list(o object, name string) []object {
	values, _ := o[name].([]any)
	var all []object
	for _, value := range values {
		if one, ok := value.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}
