package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// bufferBytes is the largest archive that is kept in memory; a larger one goes through a file.
	bufferBytes = 16 << 20
	// maxDirectoryBytes bounds the table of contents: archive/zip makes about four times as much
	// of it in memory. 10,000 parts need about 1 MiB.
	maxDirectoryBytes = 4 << 20
	maxArchiveEntries = 20_000
	// maxEntryBytes is the largest part that is held in memory: a chapter, a list of styles. The
	// body of a DOCX is streamed, and bounded by Limits.MaxUnpackedBytes alone.
	maxEntryBytes = 32 << 20
)

// archive is a ZIP file whose parts are read with every size counted: what the headers say
// about sizes is not believed. Archives within it are never opened.
type archive struct {
	files map[string]*zip.File
	// folded are the same in lower case: both formats look parts up without regard to it.
	folded map[string]*zip.File
	// left is how many more bytes may be unpacked.
	left int64
	max  int64
}

// inArchive buffers the file for a parser of ZIP containers. Errors: *Error TooLarge, Empty,
// Encrypted, WrongType, Corrupt, TooComplex.
func inArchive(parse func(a *archive, limits Limits) (Document, error)) parseFunc {
	return func(_ context.Context, r io.Reader, _ string, options Options) (Document, error) {
		limits := options.Limits
		file, size, err := buffer(io.LimitReader(r, limits.MaxArchiveBytes+1))
		if err != nil {
			return Document{}, fmt.Errorf("reading the document: %w", err)
		}
		defer func() { _ = file.Close() }() // it is unlinked or memory
		if size == 0 {
			return Document{}, errEmpty()
		}
		if size > limits.MaxArchiveBytes {
			return Document{}, errTooLarge(limits.MaxArchiveBytes)
		}
		if err := refuseOLE(file, size); err != nil {
			return Document{}, err
		}
		a, err := openArchive(file, size, limits.MaxUnpackedBytes)
		if err != nil {
			return Document{}, err
		}
		return parse(a, limits)
	}
}

// buffered is a file that is gone when it is closed.
type buffered interface {
	io.ReaderAt
	io.Closer
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

// temporaryFile removes itself, also where an open file cannot be unlinked.
type temporaryFile struct{ *os.File }

func (t temporaryFile) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

// buffer makes a stream readable at any place.
func buffer(r io.Reader) (buffered, int64, error) {
	head, err := io.ReadAll(io.LimitReader(r, bufferBytes+1))
	if err != nil {
		return nil, 0, err
	}
	if len(head) <= bufferBytes {
		return memoryFile{bytes.NewReader(head)}, int64(len(head)), nil
	}
	file, err := os.CreateTemp("", "parlance-document-*")
	if err != nil {
		return nil, 0, fmt.Errorf("making a temporary file: %w", err)
	}
	size, err := io.Copy(file, io.MultiReader(bytes.NewReader(head), r))
	if err != nil {
		return nil, 0, errors.Join(err, temporaryFile{file}.Close())
	}
	return temporaryFile{file}, size, nil
}

// openArchive reads the table of contents and refuses what no honest writer makes.
func openArchive(r io.ReaderAt, size, maxUnpacked int64) (*archive, error) {
	if err := checkDirectory(r, size); err != nil {
		return nil, err
	}
	reader, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is ever written to a path
		return nil, errCorrupt(err, "The file is damaged or cut off: it is not a complete ZIP archive.")
	}
	if len(reader.File) > maxArchiveEntries {
		return nil, errTooManyParts()
	}
	if err := refuseOverlaps(reader.File); err != nil {
		return nil, err
	}
	a := &archive{
		files: make(map[string]*zip.File, len(reader.File)), folded: make(map[string]*zip.File, len(reader.File)),
		left: maxUnpacked, max: maxUnpacked,
	}
	for _, file := range slices.Backward(reader.File) { // of two with one name the first counts
		name := cleanEntry(file.Name)
		a.files[name], a.folded[strings.ToLower(name)] = file, file
	}
	return a, nil
}

func errTooManyParts() *Error {
	return &Error{Kind: TooComplex, Message: fmt.Sprintf("The file is an archive of more than %d parts.", maxArchiveEntries)}
}

// checkDirectory bounds the table of contents before it is read: the number of entries that
// the end of the file gives may be a lie, so the place where the table begins decides.
func checkDirectory(r io.ReaderAt, size int64) error {
	const endBytes, maxComment = 22, 1<<16 - 1
	tail := make([]byte, min(size, endBytes+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the document: %w", err)
	}
	for i := len(tail) - endBytes; i >= 0; i-- {
		record := tail[i:]
		if !bytes.HasPrefix(record, []byte("PK\x05\x06")) || int(binary.LittleEndian.Uint16(record[20:]))+endBytes > len(record) {
			continue
		}
		end := size - int64(len(tail)) + int64(i)
		length, start := int64(binary.LittleEndian.Uint32(record[12:])), int64(binary.LittleEndian.Uint32(record[16:]))
		if binary.LittleEndian.Uint16(record[10:]) == 1<<16-1 || length > maxDirectoryBytes ||
			end-start > maxDirectoryBytes && start < end {
			return errTooManyParts()
		}
		return nil
	}
	return errCorrupt(nil, "The file is damaged or cut off: it is not a complete ZIP archive.")
}

// refuseOverlaps finds entries that share bytes, by which a few megabytes unpack to petabytes.
func refuseOverlaps(files []*zip.File) error {
	type extent struct{ start, end int64 }
	extents := make([]extent, 0, len(files))
	for _, file := range files {
		start, err := file.DataOffset()
		if err != nil {
			return errCorrupt(err, "The file is damaged: a part of it cannot be found.")
		}
		extents = append(extents, extent{start, start + int64(file.CompressedSize64)})
	}
	slices.SortFunc(extents, func(a, b extent) int { return int(min(max(a.start-b.start, -1), 1)) })
	for i, e := range extents {
		if e.end < e.start || i > 0 && extents[i-1].end > e.start {
			return &Error{Kind: Corrupt, Message: "The file is damaged: parts of it lie over each other."}
		}
	}
	return nil
}

// cleanEntry makes one name of the ways to write it: parts are found by their path from the root.
func cleanEntry(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// find looks a part up, exactly first; nil when there is none.
func (a *archive) find(name string) *zip.File {
	name = cleanEntry(name)
	if file := a.files[name]; file != nil {
		return file
	}
	return a.folded[strings.ToLower(name)]
}

// open streams a part. Reading more than is left of the archive's allowance gives *Error
// TooLarge. Errors: *Error Encrypted, Corrupt.
func (a *archive) open(name string) (io.ReadCloser, error) {
	file := a.find(name)
	if file == nil {
		return nil, errCorrupt(nil, "The file is incomplete: its part %q is missing.", shortened(name, maxPathChars))
	}
	if file.Flags&1 != 0 {
		return nil, &Error{Kind: Encrypted, Message: "The file is protected with a password. Remove the password and upload it again."}
	}
	r, err := file.Open()
	if err != nil {
		return nil, errCorrupt(err, "The file is damaged: its part %q cannot be unpacked.", shortened(name, maxPathChars))
	}
	return &entry{ReadCloser: r, archive: a}, nil
}

// read unpacks a part of at most maxEntryBytes.
func (a *archive) read(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(r, maxEntryBytes+1))
	if err != nil {
		return nil, partFault(err)
	}
	if len(data) > maxEntryBytes {
		return nil, &Error{Kind: TooLarge, Message: fmt.Sprintf("A part of the document unpacks to more than %d bytes.", maxEntryBytes)}
	}
	return data, nil
}

// entry counts what is unpacked.
type entry struct {
	io.ReadCloser
	archive *archive
}

func (e *entry) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if e.archive.left -= int64(n); e.archive.left < 0 {
		return 0, &Error{Kind: TooLarge, Message: fmt.Sprintf("The document unpacks to more than %d bytes.", e.archive.max)}
	}
	return n, err
}

// partFault is what is wrong when a part cannot be read to its end.
func partFault(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return errCorrupt(err, "The file is damaged: a part of it cannot be unpacked.")
}

// refuseOLE says what a file is that is in the container of old Office files. Word keeps
// documents with a password in it.
func refuseOLE(r io.ReaderAt, size int64) error {
	head := make([]byte, 8)
	n, _ := r.ReadAt(head, 0) // openArchive meets the error
	if string(head[:n]) != "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" {
		return nil
	}
	// Names of streams are UTF-16. The directory may be anywhere in the file.
	found, err := containsUTF16(r, size, "EncryptedPackage")
	switch {
	case err != nil:
		return err
	case found:
		return &Error{Kind: Encrypted, Message: "The document is protected with a password. Remove the password and upload it again."}
	}
	return &Error{Kind: WrongType, Message: "The file is in an old Office format, such as .doc. Save it as .docx and upload it again."}
}

// containsUTF16 searches a file for a name in UTF-16LE.
func containsUTF16(r io.ReaderAt, size int64, name string) (bool, error) {
	var pattern []byte
	for _, c := range []byte(name) {
		pattern = append(pattern, c, 0)
	}
	window := make([]byte, 256<<10)
	for at := int64(0); at < size; at += int64(len(window) - len(pattern)) {
		n, err := r.ReadAt(window, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("reading the document: %w", err)
		}
		if bytes.Contains(window[:n], pattern) {
			return true, nil
		}
	}
	return false, nil
}
