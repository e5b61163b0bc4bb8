package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

type object = map[string]any

// api is the REST API.
type api struct {
	ctx       context.Context //nolint:containedctx // one run of the program
	base, key string
}

func (a *api) post(path string, body object, want int) (object, error) {
	return a.call(http.MethodPost, path, body, want)
}

func (a *api) get(path string) (object, error) { return a.call(http.MethodGet, path, nil, 200) }

func (a *api) delete(path string) error {
	_, err := a.call(http.MethodDelete, path, nil, 204)
	return err
}

// client calls the servers of this proof, on this machine.
var client = &http.Client{Timeout: 30 * time.Second}

// call insists on a status.
func (a *api) call(method, path string, body object, want int) (object, error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(a.ctx, method, a.base+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // the servers behind the address come and go
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != want {
		return nil, fmt.Errorf("%s %s answered %d instead of %d: %s", method, path, answer.StatusCode, want, content)
	}
	got := object{}
	if len(content) > 0 {
		err = json.Unmarshal(content, &got)
	}
	return got, err
}

// text is the string at a path of names in decoded JSON; empty when there is none.
func text(value any, path ...string) string {
	for _, name := range path {
		in, _ := value.(object)
		value = in[name]
	}
	found, _ := value.(string)
	return found
}
