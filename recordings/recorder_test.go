package recordings_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
)

// wants compares samples of a channel with what is expected from a time on.
func wants(t *testing.T, what string, channel []int16, fromMS int, want []int16) {
	t.Helper()
	from := fromMS * 16
	if len(channel) < from+len(want) {
		t.Errorf("%s: there are %d samples, want %d from %d on", what, len(channel), len(want), from)
		return
	}
	for i, sample := range want {
		if channel[from+i] != sample {
			t.Errorf("%s: sample %d after %d ms is %d, want %d", what, i, fromMS, channel[from+i], sample)
			return
		}
	}
}

// TestAlignment: samples are heard at the times that were given, in both channels, over the
// boundaries of segments, with silence where there were none.
func TestAlignment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	said := noise(50_000)
	for ms := 0; ms < 50_000; ms += 20 {
		switch ms {
		case 1000:
			r.Agent(1003, noise(500))
		case 19_000: // before and behind the boundary at 20 s
			r.Agent(19_900, noise(300))
		case 42_000: // 4 s late
			r.Agent(38_000, noise(100))
		}
		r.User(ms, said[ms*16:(ms+20)*16])
	}
	closed(t, r)
	session = f.end(t, session)
	user, agent := f.sound(t, session)
	if len(user) != 50_000*16 || len(agent) != len(user) {
		t.Errorf("%d and %d samples, want %d", len(user), len(agent), 50_000*16)
	}
	wants(t, "the user", user, 0, said)
	silence := func(from, to int) { wants(t, "silence", agent, from, make([]int16, (to-from)*16)) }
	silence(0, 1003)
	wants(t, "the agent", agent, 1003, noise(500))
	silence(1503, 19_900)
	wants(t, "the agent at a boundary", agent, 19_900, noise(300))
	silence(20_200, 38_000)
	wants(t, "the agent, late", agent, 38_000, noise(100))
	silence(38_100, 50_000)
	view := f.view(t, session)
	if view.Status != recordings.Ready || view.DurationMS() != 50_000 || f.files(t) != 3 {
		t.Errorf("%s, %d ms, %d files", view.Status, view.DurationMS(), f.files(t))
	}
}

// TestRounding: times are whole milliseconds, and pieces of sound are not; they follow each other
// all the same.
func TestRounding(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	said := noise(3000)
	for at := 0; at+341 <= len(said); at += 341 {
		r.User(at/16, said[at:at+341])
	}
	closed(t, r)
	user, _ := f.sound(t, session)
	wants(t, "pieces", user, 0, said[:len(said)/341*341])
}

// TestCut: what was not played is not there, nor is its mark; what is said afterwards is.
func TestCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	said := noise(30_000)
	r.Agent(17_000, said[:16*10_000])
	r.Mark(recordings.Mark{ItemID: "item_1", ToChar: 10, FromMS: 17_000, ToMS: 19_000, Channel: recordings.Agent})
	r.Mark(recordings.Mark{ItemID: "item_1", FromChar: 11, ToChar: 20, FromMS: 19_000, ToMS: 22_000, Channel: recordings.Agent})
	r.Mark(recordings.Mark{ItemID: "item_1", FromChar: 21, ToChar: 30, FromMS: 22_000, ToMS: 26_000, Channel: recordings.Agent})
	r.User(0, said[:16*21_000])
	r.Mark(recordings.Mark{ItemID: "item_2", ToChar: 4, FromMS: 20_600, ToMS: 21_000, Channel: recordings.User})
	r.CutAgent(20_500)
	r.Agent(24_000, said[:16*1000])
	closed(t, r)
	_, agent := f.sound(t, session)
	wants(t, "played", agent, 17_000, said[:16*3500])
	wants(t, "not played", agent, 20_500, make([]int16, 16*3500))
	wants(t, "said afterwards", agent, 24_000, said[:16*1000])
	if len(agent) != 25_000*16 {
		t.Errorf("%d samples, want them to the end of what was played", len(agent))
	}
	marks, err := f.Marks(t.Context(), session, recordings.MarksParams{})
	want := []recordings.Mark{
		{ItemID: "item_1", ToChar: 10, FromMS: 17_000, ToMS: 19_000, Channel: recordings.Agent},
		{ItemID: "item_1", FromChar: 11, ToChar: 20, FromMS: 19_000, ToMS: 20_500, Channel: recordings.Agent},
		{ItemID: "item_2", ToChar: 4, FromMS: 20_600, ToMS: 21_000, Channel: recordings.User},
	}
	if diff := cmp.Diff(want, marks); err != nil || diff != "" {
		t.Errorf("marks: %v %s", err, diff)
	}
	some, err := f.Marks(t.Context(), session, recordings.MarksParams{FromMS: 19_000, ToMS: 20_600})
	if diff := cmp.Diff(want[1:2], some); err != nil || diff != "" {
		t.Errorf("marks between two times: %v %s", err, diff)
	}
}

// TestParts: the sockets of a session follow each other, each with its own clock.
func TestParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	session.StartedAt = f.clock.now()
	said := noise(30_000)
	for i, ms := range []int{25_000, 3000, 1000} {
		r := f.record(t, session)
		r.User(0, said[i:i+16*ms])
		r.Mark(recordings.Mark{ItemID: "item", FromMS: 500, ToMS: 900})
		closed(t, r)
		f.clock.advance(time.Minute)
	}
	user, _ := f.sound(t, session)
	wants(t, "the first", user, 0, said[:16*25_000])
	wants(t, "the second", user, 25_000, said[1:1+16*3000])
	wants(t, "the third", user, 28_000, said[2:2+16*1000])
	view := f.view(t, session)
	if view.Status != recordings.Recording || view.DurationMS() != 29_000 || len(view.Parts) != 3 {
		t.Fatalf("%+v", view)
	}
	for i, from := range []int{0, 25_000, 28_000} {
		part := view.Parts[i]
		if part.FromMS() != from || part.OffsetMS/60_000 != i || part.EndedAt.IsZero() {
			t.Errorf("part %d: %+v", i, part)
		}
	}
	marks, err := f.Marks(t.Context(), session, recordings.MarksParams{})
	var begins []int
	for _, m := range marks {
		begins = append(begins, m.FromMS)
	}
	if diff := cmp.Diff([]int{500, 25_500, 28_500}, begins); err != nil || diff != "" {
		t.Errorf("marks: %v %s", err, diff)
	}
}

// TestKilled: what a server had stored before it died can be heard, and the recording says that it
// is not whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session) // never closed
	said := noise(50_000)
	r.User(0, said)
	await(t, "two segments", func() bool { return f.view(t, session).DurationMS() == 40_000 })
	user, _ := f.sound(t, session)
	wants(t, "what was stored", user, 0, said[:16*40_000])
	if view := f.view(t, session); view.Status != recordings.Recording {
		t.Errorf("while the session is open: %s", view.Status)
	}
	session = f.end(t, session)
	if view := f.view(t, session); view.Status != recordings.Recording {
		t.Errorf("while its end may be written: %s", view.Status)
	}
	f.clock.advance(6 * time.Minute)
	if view := f.view(t, session); view.Status != recordings.Incomplete || view.DurationMS() != 40_000 {
		t.Errorf("afterwards: %s, %d ms", view.Status, view.DurationMS())
	}
}

// TestSlowBucket: a recording that could not be stored for two minutes stops, and keeps what it
// had.
func TestSlowBucket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	release := f.bucket.hold()
	defer release()
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	piece := noise(1000)
	for second := range 300 {
		r.User(second*1000, piece)
	}
	if !f.log.has("level=ERROR") {
		t.Error("nothing was logged")
	}
	release()
	if err := r.Close(t.Context()); !errors.Is(err, recordings.ErrLost) {
		t.Errorf("Close: %v", err)
	}
	view := f.view(t, f.end(t, session))
	if view.Status != recordings.Incomplete || view.DurationMS() < 120_000 || view.DurationMS() > 150_000 || !view.Parts[0].Incomplete {
		t.Errorf("%s, %d ms", view.Status, view.DurationMS())
	}
	user, _ := f.sound(t, session)
	for second := range 120 {
		wants(t, "before it stopped", user, second*1000, piece)
	}
}

// TestHangingBucket: Close does not wait longer than it may.
func TestHangingBucket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	defer f.bucket.hold()()
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	r.User(0, noise(1000))
	await(t, "the part's row", func() bool { return f.view(t, session).Status == recordings.Recording })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Close(over); !errors.Is(err, recordings.ErrLost) {
		t.Errorf("Close: %v", err)
	}
	if view := f.view(t, f.end(t, session)); view.Status != recordings.Incomplete {
		t.Errorf("afterwards: %s", view.Status)
	}
}

// TestFailingBucket: a segment that could not be stored is stored again.
func TestFailingBucket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.bucket.putFailures = 2
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	r.User(0, noise(30_000))
	closed(t, r)
	user, _ := f.sound(t, session)
	wants(t, "all of it", user, 0, noise(30_000))
	if f.rows(t) != 2 || f.files(t) != 2 {
		t.Errorf("%d rows, %d files", f.rows(t), f.files(t))
	}
}

// TestSilence: long silence is heard and not stored.
func TestSilence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	const gap = 300_000
	r.User(0, noise(1000))
	r.User(gap, noise(1000))
	closed(t, r)
	user, _ := f.sound(t, session)
	wants(t, "before", user, 0, noise(1000))
	wants(t, "between", user, 1000, make([]int16, 16*(gap-1000)))
	wants(t, "behind", user, gap, noise(1000))
	if f.files(t) != 2 || f.rows(t) > 4 {
		t.Errorf("%d files, %d rows", f.files(t), f.rows(t))
	}
}

// TestSeek: every part of the file is what it is in the whole.
func TestSeek(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	r.User(0, noise(25_000))
	r.User(100_000, noise(1000))
	closed(t, r)
	whole := f.file(t, session)
	file, err := f.Open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	const segment = 20 * 16000 * 4
	for _, row := range []struct{ from, size int }{
		{0, 10}, {40, 100}, {44, 4}, {44 + segment - 3, 7}, {len(whole) - 5, 5}, {44 + 2*segment, 3 * segment}, {10, 10}, {1234, 4321},
	} {
		if _, err := file.Seek(int64(row.from), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, row.size)
		if _, err := io.ReadFull(file, got); err != nil || !bytes.Equal(got, whole[row.from:row.from+row.size]) {
			t.Errorf("%d bytes from %d on are not those of the whole file: %v", row.size, row.from, err)
		}
	}
	if at, err := file.Seek(0, io.SeekEnd); err != nil || at != int64(len(whole)) {
		t.Errorf("the end is at %d: %v", at, err)
	}
}

// TestNotRecorded: sessions whose agents do not record, that keep nothing, or have no voice socket.
func TestNotRecorded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	on := agents.Voice{Recording: agents.Recording{Enabled: true}}
	for name, privacy := range map[string]agents.Privacy{"zero retention": {ZeroRetention: true}, "redaction": {Redact: []string{"card"}}} {
		_, err := f.agents.Create(t.Context(), f.ref, "Ada", agents.Config{Voice: on, Privacy: privacy})
		named := slices.ContainsFunc(fault.From(err).Fields, func(f fault.Field) bool { return f.Field == "voice.recording.enabled" })
		if !fault.IsReason(err, fault.InvalidRequest) || !named {
			t.Errorf("%s: %v", name, err)
		}
	}
	keepsNothing := f.session(t, f.agent.ID, sessions.Voice)
	keepsNothing.Config.Privacy.ZeroRetention = true // of a version that is not refused
	silent := f.newAgent(t, agents.Config{})
	for name, session := range map[string]sessions.Session{
		"the default": f.session(t, silent.ID, sessions.Voice), "text": f.session(t, f.agent.ID, sessions.Text), "zero retention": keepsNothing,
	} {
		r := f.Start(session)
		if r != nil {
			t.Fatalf("%s: it is recorded", name)
		}
		r.User(0, noise(10))
		r.Agent(0, noise(10))
		r.CutAgent(0)
		r.Mark(recordings.Mark{})
		closed(t, r)
		if view := f.view(t, session); view.Status != recordings.None {
			t.Errorf("%s: %s", name, view.Status)
		}
		if _, err := f.Open(t.Context(), session); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("%s: Open: %v", name, err)
		}
		if _, err := f.Marks(t.Context(), session, recordings.MarksParams{}); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("%s: Marks: %v", name, err)
		}
	}
}
