package privacy

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// maxManifestBytes bounds what is read of a manifest: a line for each of a million files.
const maxManifestBytes = 256 << 20

// manifest is the part of manifest.json that verify reads.
type manifest struct {
	Format    string    `json:"format"`
	RequestID string    `json:"request_id"`
	UserID    string    `json:"user_id"`
	AsOf      time.Time `json:"as_of"`
	Files     []struct {
		Path   string `json:"path"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// verify compares the files of an archive with its manifest. Errors: the first difference.
func verify(path string) (manifest, error) {
	archive, err := zip.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, errors.New("there is no such file")
	}
	if err != nil {
		return manifest{}, fmt.Errorf("it is not a whole ZIP file: %w", err)
	}
	defer func() { _ = archive.Close() }() // only read
	var said manifest
	files := map[string]*zip.File{}
	for _, f := range archive.File {
		if files[f.Name] != nil {
			return manifest{}, fmt.Errorf("it has two files %q", f.Name)
		}
		files[f.Name] = f
	}
	listed, ok := files["manifest.json"]
	if !ok {
		return manifest{}, errors.New("it has no manifest.json: it is not an export of Parlance")
	}
	if err := read(listed, func(r io.Reader) error { return json.NewDecoder(io.LimitReader(r, maxManifestBytes)).Decode(&said) }); err != nil {
		return manifest{}, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	for _, f := range said.Files {
		there, ok := files[f.Path]
		if !ok {
			return said, fmt.Errorf("%s is missing", f.Path)
		}
		hash := sha256.New()
		if err := read(there, func(r io.Reader) error { _, err := io.Copy(hash, r); return err }); err != nil {
			return said, fmt.Errorf("%s cannot be read: %w", f.Path, err)
		}
		if hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
			return said, fmt.Errorf("%s was changed: it has another hash than the manifest says", f.Path)
		}
	}
	if len(files) != len(said.Files)+1 {
		return said, errors.New("it has files that the manifest does not list")
	}
	return said, nil
}

func read(f *zip.File, use func(io.Reader) error) error {
	content, err := f.Open()
	if err != nil {
		return err
	}
	return errors.Join(use(content), content.Close())
}
