package wal

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/platform/seal"
)

// keys is a Sealer that needs no database.
type keys struct{ aead cipher.AEAD }

func newKeys(t testing.TB, secret string) keys {
	t.Helper()
	block, err := aes.NewCipher([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return keys{aead}
}

func (k keys) Seal(_ context.Context, plaintext []byte, place seal.Binding) ([]byte, error) {
	return k.aead.Seal(nil, nil, plaintext, []byte(fmt.Sprint(place))), nil
}

func (k keys) Open(_ context.Context, blob []byte, place seal.Binding) ([]byte, error) {
	return k.aead.Open(nil, nil, blob, []byte(fmt.Sprint(place)))
}

const testKey = "0123456789abcdef0123456789abcdef"

func open(t testing.TB, dir string) *Log {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, Seal: newKeys(t, testKey)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// die ends the process of a log as kill -9 does: its locks are free, nothing else happens.
func die(s *Log) {
	s.own.release()
	for _, g := range s.adopted {
		g.release()
	}
}

func keep(t testing.TB, s *Log, stream string, data ...string) (records []Record) {
	t.Helper()
	for _, d := range data {
		r, err := s.Append(stream, []byte(d))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func read(t testing.TB, s *Log, records []Record) string {
	t.Helper()
	var all []string
	for _, r := range records {
		data, err := s.Read(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Stream+"="+string(data))
	}
	return strings.Join(all, " ")
}

func adopted(t testing.TB, s *Log) string {
	t.Helper()
	records, err := s.Adopt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return read(t, s, records)
}

// TestOutlives: what was appended and is not done is found by the next process, in order, once.
func TestOutlives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	records := keep(t, first, "a", "1", "2")
	keep(t, first, "b", "3")
	if got := read(t, first, records); got != "a=1 a=2" {
		t.Errorf("read back: %q", got)
	}
	second := open(t, dir)
	if got := adopted(t, second); got != "" {
		t.Errorf("adopted %q from a process that lives", got)
	}
	if err := first.Done(records[0]); err != nil {
		t.Fatal(err)
	}
	die(first)
	if got := adopted(t, second); got != "a=2 b=3" {
		t.Errorf("adopted %q", got)
	}
	third := open(t, dir)
	if got := adopted(t, third); got != "" {
		t.Errorf("adopted twice: %q", got)
	}
	if stats := second.Stats(); stats.Records != 2 || stats.Oldest.IsZero() || stats.Bytes == 0 {
		t.Errorf("%+v", stats)
	}
	die(second) // while it applies them
	records, err := third.Adopt(t.Context())
	if err != nil || len(records) != 2 {
		t.Fatalf("%v, %v", records, err)
	}
	for _, r := range records {
		if err := third.Done(r); err != nil {
			t.Fatal(err)
		}
	}
	if stats := third.Stats(); stats != (Stats{}) {
		t.Errorf("%+v", stats)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	last := open(t, dir)
	if got := adopted(t, last); got != "" {
		t.Errorf("still there: %q", got)
	}
	if segments, _ := filepath.Glob(filepath.Join(dir, "*", keyName)); len(segments) != 1 {
		t.Errorf("segments are left: %v", segments)
	}
}

// TestTorn: a record whose writing was cut off by a crash is not found, and the others are.
func TestTorn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	keep(t, s, "s", "one", "two")
	die(s)
	content, err := os.ReadFile(s.own.path(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.own.dir, strings.TrimSuffix(temporary, "*")+"1"), content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	next := open(t, dir)
	if got := adopted(t, next); got != "s=one s=two" {
		t.Errorf("got %q", got)
	}
}

// TestDied: a segment whose process died before it wrote its key is removed.
func TestDied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	die(s)
	if err := os.Remove(filepath.Join(s.own.dir, keyName)); err != nil {
		t.Fatal(err)
	}
	if got := adopted(t, open(t, dir)); got != "" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(s.own.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the segment is left: %v", err)
	}
}

// TestDamaged: bytes that were changed, or cut off, cost the record they are in, and no other.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	keep(t, s, "s", "one", "two", "three")
	content, err := os.ReadFile(s.own.path(2))
	if err != nil {
		t.Fatal(err)
	}
	die(s)
	for at := range content {
		changed := bytes.Clone(content)
		changed[at] ^= 0x40
		for _, damaged := range [][]byte{changed, content[:at]} {
			if err := os.WriteFile(s.own.path(2), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			next := open(t, dir)
			if got := adopted(t, next); got != "s=one s=three" {
				t.Fatalf("byte %d: %q", at, got)
			}
			die(next)
		}
	}
}

// TestSealed: nothing of a record can be read on disk, nor be moved to another segment, nor be
// opened without the key.
func TestSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	keep(t, s, "ses_marker", "what was said")
	die(s)
	content, err := os.ReadFile(s.own.path(1))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("marker")) || bytes.Contains(content, []byte("said")) {
		t.Error("the log can be read")
	}
	if err := os.Rename(s.own.dir, filepath.Join(dir, "ELSEWHERE")); err != nil {
		t.Fatal(err)
	}
	if records, err := open(t, dir).Adopt(t.Context()); err == nil || len(records) > 0 {
		t.Errorf("opened under another name: %v", records)
	}
	if err := os.Rename(filepath.Join(dir, "ELSEWHERE"), s.own.dir); err != nil {
		t.Fatal(err)
	}
	thief, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, Seal: newKeys(t, strings.ToUpper(testKey))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = thief.Close() }) // until then its own log is in use
	if records, err := thief.Adopt(t.Context()); err == nil || len(records) > 0 {
		t.Errorf("opened with another key: %v", records)
	}
	if got := adopted(t, open(t, dir)); got != "ses_marker=what was said" {
		t.Errorf("got %q", got)
	}
}

// TestFull: a record that does not fit is refused, and what is there stays; once that is done there
// is room.
func TestFull(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), MaxBytes: MinMaxBytes, Seal: newKeys(t, testKey)})
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", MinMaxBytes/3)
	records := keep(t, s, "s", large, large)
	if _, err := s.Append("s", []byte(large)); !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
	if got := read(t, s, records); got != "s="+large+" s="+large {
		t.Error("what was there is not any more")
	}
	for _, r := range records {
		if err := s.Done(r); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, s, "s", large)
	if _, err := Open(t.Context(), Config{Dir: t.TempDir(), MaxBytes: 1, Seal: newKeys(t, testKey)}); err == nil {
		t.Error("a log of one byte")
	}
}

// TestUnwritable: a directory that cannot be written is refused at the start.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: filepath.Join(file, "spool"), MaxBytes: 1 << 20, Seal: newKeys(t, testKey)}); err == nil {
		t.Error("opened")
	}
}

// TestAside: a record that nobody can use is kept, and is in nobody's way.
func TestAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	records := keep(t, s, "s", "bad", "good")
	if err := s.SetAside(records[0]); err != nil {
		t.Fatal(err)
	}
	if stats := s.Stats(); stats.Records != 1 || stats.Aside != 1 {
		t.Errorf("%+v", stats)
	}
	die(s)
	next := open(t, dir)
	if got := adopted(t, next); got != "s=good" {
		t.Errorf("got %q", got)
	}
	if stats := next.Stats(); stats.Aside != 1 {
		t.Errorf("%+v", stats)
	}
}

// TestSideBySide: appends of many at once are all there, each stream in its order.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	var writing sync.WaitGroup
	for stream := range 8 {
		writing.Go(func() {
			for i := range 20 {
				r, err := s.Append(fmt.Sprint(stream), []byte(fmt.Sprint(i)))
				if err == nil && i%2 == 0 {
					err = s.Done(r)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	die(s)
	next := open(t, dir)
	records, err := next.Adopt(t.Context())
	if err != nil || len(records) != 80 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	seen := map[string]int{}
	for _, r := range records {
		data, err := next.Read(r)
		if want := fmt.Sprint(2*seen[r.Stream] + 1); err != nil || string(data) != want {
			t.Fatalf("stream %s: %q, %v, want %s", r.Stream, data, err, want)
		}
		seen[r.Stream]++
	}
}

// FuzzDecodeBody: whatever a body holds, decoding ends, and reads nothing that is not there.
func FuzzDecodeBody(f *testing.F) {
	good := encodeBody("stream", time.Unix(1, 0), []byte("data"))
	f.Add(good)
	f.Add(good[:7])
	f.Fuzz(func(t *testing.T, body []byte) {
		stream, at, data, ok := decodeBody(body)
		if !ok {
			return
		}
		if len(stream)+len(data) > len(body) {
			t.Fatal("more than there is")
		}
		again, when, same, ok := decodeBody(encodeBody(stream, at, data))
		if !ok || again != stream || !when.Equal(at) || !bytes.Equal(same, data) {
			t.Fatalf("%q %v %q", again, when, same)
		}
	})
}

// TestInspect counts what waits in a directory without the keys, of a process that lives and of one
// that has ended.
func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	looks := func() Survey {
		t.Helper()
		survey, err := Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		return survey
	}
	s := open(t, dir)
	if got := looks(); len(got.Waiting) != 0 || got.Aside != 0 {
		t.Errorf("nothing was kept: %+v", got)
	}
	var last Record
	for range 3 {
		var err error
		if last, err = s.Append("a", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Done(last); err != nil {
		t.Fatal(err)
	}
	if got := looks(); len(got.Waiting) != 1 || got.Waiting[0].Records != 2 || !got.Waiting[0].Held || got.Waiting[0].Bytes == 0 ||
		got.Waiting[0].Written.IsZero() {
		t.Errorf("two wait: %+v", got)
	}
	die(s)
	if got := looks(); len(got.Waiting) != 1 || got.Waiting[0].Held {
		t.Errorf("its process has ended: %+v", got)
	}
	next := open(t, dir)
	records, err := next.Adopt(t.Context())
	if err != nil || len(records) != 2 {
		t.Fatalf("%d adopted, %v", len(records), err)
	}
	if err := errors.Join(next.SetAside(records[0]), next.Done(records[1])); err != nil {
		t.Fatal(err)
	}
	if got := looks(); len(got.Waiting) != 0 || got.Aside != 1 {
		t.Errorf("one lies aside: %+v", got)
	}
	if _, err := Inspect(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a directory that is not there is looked at")
	}
}

// TestCheck says that a log is nearly full, and that its directory cannot be written.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Check(); err != nil {
		t.Errorf("at first: %v", err)
	}
	if _, err := s.Append("a", make([]byte, 1<<20-60<<10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); !errors.Is(err, ErrFull) {
		t.Errorf("with 60 KiB left: %v", err)
	}
	other := open(t, t.TempDir())
	if err := os.RemoveAll(other.config.Dir); err != nil {
		t.Fatal(err)
	}
	if err := other.Check(); err == nil {
		t.Error("without its directory nothing is wrong")
	}
}
