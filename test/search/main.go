// Command search looks for words in everything that an installation stores, for scripts that show
// what is left of something:
//
//	DATABASE_URL=… REDIS_URL=… go run ./test/search -dir blobs WORD…
//
// It prints where each was found and ends with 1 when one was.
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"parlance.dev/parlance/test/dump"
)

func main() {
	dir := flag.String("dir", "", "directory of files, such as the bucket's")
	flag.Parse()
	found, err := run(context.Background(), *dir, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(2)
	}
	if found {
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, words []string) (found bool, err error) {
	places := map[string][]byte{}
	if dir != "" {
		if places, err = dump.Files(dir); err != nil {
			return false, err
		}
	}
	if places["Postgres"], err = dump.Postgres(ctx, os.Getenv("DATABASE_URL")); err != nil {
		return false, err
	}
	if places["Redis"], err = dump.Redis(ctx, os.Getenv("REDIS_URL")); err != nil {
		return false, err
	}
	for path, content := range places {
		inside, err := unzip(content)
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		places[path] = append(content, inside...)
	}
	for _, word := range words {
		for _, place := range slices.Sorted(maps.Keys(places)) {
			if n := bytes.Count(places[place], []byte(word)); n > 0 {
				fmt.Printf("%s is in %s, %d times\n", word, place, n)
				found = true
			}
		}
	}
	return found, nil
}

// unzip returns what is in a ZIP file, and nothing of other files.
func unzip(content []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if errors.Is(err, zip.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var inside bytes.Buffer
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(&inside, r); err != nil {
			return nil, err
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return inside.Bytes(), nil
}
