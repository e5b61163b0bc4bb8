package intake

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/knowledge/document"
)

// maxNameRunes is the API's limit for a display name.
const maxNameRunes = 200

// Stdin is the argument that names the standard input.
const Stdin = "-"

// Item is one thing to add.
type Item struct {
	// Given is the argument; for a file in a folder it is the path of the file.
	Given string
	// Name is the display name of the source. The name of a page is known once it was fetched.
	Name string
	// Path is the file. It is empty for pages and the standard input.
	Path string
	// URL is the address of a page, and nil for everything else.
	URL *url.URL
	// SourceID is a source that is to be ingested again. It is empty for new sources.
	SourceID string
	// MediaType is the declared type. It is empty for pages whose server declares it.
	MediaType string
	// SizeBytes is the size of the file; -1 when it is not known yet.
	SizeBytes int64
}

// Skipped is a file in a folder that is not added.
type Skipped struct {
	Path string
	// Why is a short reason: "hidden", NotAccepted, …
	Why string
}

// NotAccepted is the reason for files whose extension belongs to no accepted type.
const NotAccepted = "type not accepted"

// Selection is the result of Select.
type Selection struct {
	Items   []Item
	Skipped []Skipped
}

// Rules change how arguments are read.
type Rules struct {
	// Name is the display name, for a single item.
	Name string
	// MediaType is the declared type of named files, pages and the standard input: a media type, or an
	// extension like "md". Files in folders are typed by their extension.
	MediaType string
	// Exclude are patterns of names or paths that are skipped in folders.
	Exclude []string
}

// Select turns arguments into items. Folders are searched to any depth; hidden files, what tools
// leave in folders and types that are not accepted are skipped. Errors describe what is wrong with
// the arguments.
func Select(args []string, rules Rules) (Selection, error) {
	s := selector{exclude: rules.Exclude, seen: map[string]bool{}}
	var err error
	if s.mediaType, err = mediaType(rules.MediaType); err != nil {
		return Selection{}, err
	}
	for _, pattern := range rules.Exclude {
		if _, err := path.Match(pattern, ""); err != nil {
			return Selection{}, fmt.Errorf("--exclude %q is not a pattern: %w", pattern, err)
		}
	}
	for _, arg := range args {
		if err := s.argument(arg, rules.Name); err != nil {
			return Selection{}, err
		}
	}
	if len(s.Items) == 0 {
		return s.Selection, fmt.Errorf("nothing to add: no file of a type that is accepted (%s)", AcceptedTypes())
	}
	if rules.Name != "" {
		if len(s.Items) > 1 {
			return Selection{}, fmt.Errorf("--name is for one source, and there are %d", len(s.Items))
		}
		s.Items[0].Name = rules.Name
	}
	disambiguate(s.Items)
	return s.Selection, nil
}

// AcceptedTypes lists the usual extensions of the accepted types.
func AcceptedTypes() string {
	var names []string
	for _, one := range document.MediaTypes() {
		names = append(names, strings.TrimPrefix(one.Extensions[0], "."))
	}
	return strings.Join(names, ", ")
}

// mediaType parses --type.
func mediaType(given string) (string, error) {
	if given == "" {
		return "", nil
	}
	if resolved, ok := document.Resolve(given, ""); ok {
		return resolved, nil
	}
	if resolved, ok := document.Resolve("", "x."+strings.TrimPrefix(given, ".")); ok {
		return resolved, nil
	}
	return "", fmt.Errorf("--type %q is not accepted; give one of %s, or a media type", given, AcceptedTypes())
}

type selector struct {
	Selection
	mediaType string
	exclude   []string
	seen      map[string]bool // absolute paths and addresses
}

func (s *selector) argument(arg, name string) error {
	if arg == Stdin {
		return s.stdin(name)
	}
	if lower := strings.ToLower(arg); strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
		return s.page(arg)
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.glob(arg)
	case err != nil:
		return plainPathError(err)
	case info.IsDir():
		return s.folder(arg)
	}
	return s.file(arg, info)
}

func (s *selector) stdin(name string) error {
	if name == "" {
		return errors.New(`- reads the standard input, which has no name: give --name, e.g. --name "Release notes.md"`)
	}
	kind := s.mediaType
	if kind == "" {
		var ok bool
		if kind, ok = document.Resolve("", name); !ok {
			return fmt.Errorf("what is the standard input? Give --type (%s), or a --name with such an ending", AcceptedTypes())
		}
	}
	if s.isNew(Stdin) {
		s.Items = append(s.Items, Item{Given: Stdin, Name: name, MediaType: kind, SizeBytes: -1})
	}
	return nil
}

func (s *selector) page(arg string) error {
	address, err := url.Parse(arg)
	if err != nil || address.Hostname() == "" {
		return fmt.Errorf("%q is not a web address", arg)
	}
	if s.isNew(arg) {
		s.Items = append(s.Items, Item{Given: arg, Name: pageName("", address), URL: address, MediaType: s.mediaType, SizeBytes: -1})
	}
	return nil
}

// glob expands a pattern that the shell did not expand.
func (s *selector) glob(arg string) error {
	found, err := filepath.Glob(arg)
	if err != nil || len(found) == 0 {
		if strings.ContainsAny(arg, "*?[") {
			return fmt.Errorf("nothing matches %s", arg)
		}
		return fmt.Errorf("there is no file or folder %s", arg)
	}
	for _, path := range found {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return plainPathError(err)
		case info.IsDir():
			err = s.folder(path)
		case !s.accepts(path):
			s.skip(path, NotAccepted)
		default:
			err = s.file(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file adds a file that was named. It returns an error where a file in a folder would be skipped.
func (s *selector) file(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file; to add what it gives: cat %s | parlance kb add - --name NAME", name, name)
	}
	kind, ok := s.mediaType, true
	if kind == "" {
		kind, ok = document.Resolve("", filepath.Base(name))
	}
	if !ok {
		return fmt.Errorf("%s: the ending says none of the types that are accepted (%s). If it is one of them, say which: "+
			"--type txt", name, AcceptedTypes())
	}
	s.add(name, filepath.Base(name), kind, info.Size())
	return nil
}

// folder adds the files below root. Their names are paths within it.
func (s *selector) folder(root string) error {
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return err
			}
			s.skip(name, "not readable")
			return nil
		}
		if name == root {
			return nil
		}
		inside, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		inside = filepath.ToSlash(inside)
		if why := s.skipReason(inside, entry); why != "" {
			s.skip(name, why)
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			s.skip(name, "not readable")
			return nil //nolint:nilerr // it is said, and the others go on
		}
		kind, _ := document.Resolve("", name) // skipReason has checked it
		s.add(name, inside, kind, info.Size())
		return nil
	})
	if err != nil {
		return plainPathError(err)
	}
	return nil
}

// toolFolders are made by tools and contain no documents.
var toolFolders = []string{"node_modules", "bower_components", "__pycache__", "__MACOSX", "venv"}

// skipReason returns why an entry of a folder is not added, or "". inside is its path in the
// folder.
func (s *selector) skipReason(inside string, entry fs.DirEntry) string {
	name := entry.Name()
	for _, pattern := range s.exclude {
		byName, _ := path.Match(pattern, name) // Select has checked the patterns
		byPath, _ := path.Match(strings.TrimSuffix(pattern, "/"), inside)
		if byName || byPath {
			return "excluded"
		}
	}
	switch {
	case strings.HasPrefix(name, "."):
		return "hidden"
	case strings.HasPrefix(name, "~$"), strings.HasSuffix(name, "~"):
		return "left by an editor"
	case entry.IsDir() && slices.Contains(toolFolders, name):
		return "made by a tool"
	case entry.IsDir():
		return ""
	case entry.Type()&fs.ModeSymlink != 0:
		return "a link"
	case !entry.Type().IsRegular():
		return "no file"
	case !s.accepts(name):
		return NotAccepted
	}
	return ""
}

// accepts reports whether the extension of a file belongs to an accepted type, regardless of
// --type.
func (s *selector) accepts(name string) bool {
	_, ok := document.Resolve("", filepath.Base(name))
	return ok
}

func (s *selector) add(given, name, kind string, size int64) {
	absolute, err := filepath.Abs(given)
	if err != nil {
		absolute = given
	}
	if s.isNew(absolute) {
		s.Items = append(s.Items, Item{Given: given, Name: sourceName(name), Path: given, MediaType: kind, SizeBytes: size})
	}
}

func (s *selector) skip(path, why string) {
	s.Skipped = append(s.Skipped, Skipped{Path: path, Why: why})
}

func (s *selector) isNew(what string) bool {
	known := s.seen[what]
	s.seen[what] = true
	return !known
}

// disambiguate uses the paths of files as names where several files have the same name.
func disambiguate(items []Item) {
	count := map[string]int{}
	for _, item := range items {
		count[item.Name]++
	}
	for i, item := range items {
		if count[item.Name] > 1 && item.Path != "" {
			items[i].Name = sourceName(filepath.ToSlash(filepath.Clean(item.Given)))
		}
	}
}

// sourceName makes a display name of a path: it removes control characters and shortens long paths
// at the beginning.
func sourceName(path string) string {
	name := strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(path, "�")))
	if over := utf8.RuneCountInString(name) - maxNameRunes; over > 0 {
		name = "…" + string([]rune(name)[over+1:])
	}
	return name
}

// plainPathError returns a path error without the name of the system call.
func plainPathError(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", failed.Path, failed.Err)
	}
	return err
}
