package rig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Header is what every request of the API sends.
func (in *Installation) Header() http.Header {
	return http.Header{"Authorization": {"Bearer " + in.Key}, "Content-Type": {"application/json"}}
}

// Post sends JSON to a path under /v1 and reads the answer into out, unless that is nil.
func (in *Installation) Post(ctx context.Context, path string, body, out any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	return in.Do(ctx, http.MethodPost, path, encoded, out)
}

// Do sends a request to a path under /v1 and reads the answer into out, unless that is nil.
func (in *Installation) Do(ctx context.Context, method, path string, body []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, in.URL+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header = in.Header()
	response, err := in.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s answered %d %s", method, path, response.StatusCode, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}

// fetch writes a page of a program about itself.
func (in *Installation) fetch(ctx context.Context, url string, into io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	response, err := in.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("asking a program about itself: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	_, err = io.Copy(into, response.Body)
	return err
}

// Profile writes the profile at url to a directory, as NAME.pprof; without one it does nothing.
func (in *Installation) Profile(ctx context.Context, dir, name, url string) error {
	if dir == "" {
		return nil
	}
	file, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		return fmt.Errorf("writing a profile: %w", err)
	}
	return errors.Join(in.fetch(ctx, url, file), file.Close())
}

// Gauges reads metrics without labels of the server at URL, after it has collected its garbage.
// Debug is where the server has its profiles. A metric that it does not have stays as it is.
func (in *Installation) Gauges(ctx context.Context, debug string, gauges map[string]*float64) error {
	if err := in.fetch(ctx, debug+"/heap?gc=1", io.Discard); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := in.fetch(ctx, in.URL+"/metrics", &page); err != nil {
		return err
	}
	for lines := bufio.NewScanner(&page); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		gauge := gauges[name]
		if gauge == nil {
			continue
		}
		var err error
		if *gauge, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return nil
}
