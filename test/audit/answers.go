package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Invariants of what customers were answered.
const (
	kept     = "every answered write is there"
	asSaid   = "it is as the last answer said"
	goneFor  = "what was answered as deleted is gone and buried"
	once     = "nothing is there twice"
	wanted   = "nothing is there that nobody asked for"
	noRumour = "customers saw nothing contradictory"
	heard    = "what a socket acknowledged is in a turn, once"
)

// table reads a noun's rows: id, mark, fields as text.
type table struct {
	noun Noun
	// sql selects id, mark and a jsonb object of fields.
	sql string
	// buried says that a deletion leaves a tombstone.
	buried bool
	// repeats says that the mark does not name one creation, as with attachments.
	repeats bool
}

var tables = []table{
	{
		noun: Agent, buried: true,
		sql: `SELECT id, name, jsonb_build_object('version', version::text, 'instructions', config ->> 'instructions') FROM agents`,
	},
	{noun: Tool, buried: true, sql: `SELECT id::text, slug, jsonb_build_object('description', description) FROM tools`},
	{
		noun: ToolAttachment, repeats: true,
		sql: `SELECT agent_id || '/' || tool_id, '', jsonb_build_object('enabled', enabled::text) FROM tool_attachments`,
	},
	{noun: Source, buried: true, sql: `SELECT id, name, jsonb_build_object('kind', kind, 'size_bytes', size_bytes::text) FROM sources`},
	{noun: Attachment, repeats: true, sql: `SELECT agent_id || '/' || source_id, '', '{}'::jsonb FROM source_attachments`},
	{noun: Session, sql: `SELECT id, user_id, jsonb_build_object('status', CASE WHEN ended_at IS NULL THEN 'open' ELSE
		status END, 'end_reason', end_reason) FROM sessions`},
	// A turn that failed or was cancelled may be asked for again under its key: that is what 5xx
	// say.
	{noun: Turn, sql: `SELECT id, user_text, jsonb_build_object('text', agent_text, 'status', status) FROM turns
		WHERE status = 'completed' AND user_text <> ''`},
	{
		noun: Endpoint, buried: true,
		sql: `SELECT id, description, jsonb_build_object('events', array_to_string(events, ','), 'hint', secret_hint) FROM webhook_endpoints`,
	},
	{noun: Key, buried: true, sql: `SELECT id, name, jsonb_build_object('scope', scope, 'hint', secret_hint) FROM api_keys`},
}

// row is a thing as the database has it.
type row struct {
	ID, Mark string
	Fields   map[string]string
}

// story is what the journal says about one thing.
type story struct {
	id, mark string
	// alive and dead: it was answered as made, as deleted.
	alive, dead bool
	fields      map[string]string
	// unsure: a change without an answer followed, so fields may be either.
	unsure bool
	// unsureDead: a deletion without an answer followed.
	unsureDead bool
}

// checkAnswers holds the journal against the rows.
func (a *auditor) checkAnswers(ctx context.Context) error {
	entries := a.Journal.Entries()
	for _, t := range tables {
		rows, err := query[row](ctx, a.conn, t.sql)
		if err != nil {
			return err
		}
		var own []Entry
		for _, e := range entries {
			if e.Noun == t.noun {
				own = append(own, e)
			}
		}
		byID := map[string]row{}
		for _, r := range rows {
			byID[r.ID] = r
		}
		a.checkStories(t, own, byID)
		if !t.repeats {
			a.checkMarks(t, own, rows)
		}
		if t.buried {
			if err := a.checkBuried(ctx, t.noun, own); err != nil {
				return err
			}
		}
	}
	if err := a.checkHeard(ctx, entries); err != nil {
		return err
	}
	a.looked(noRumour, len(entries))
	for _, complaint := range a.Journal.Complaints() {
		a.found(noRumour, "%s", complaint)
	}
	return nil
}

// checkHeard looks for acknowledged items among the messages of turns, whatever became of the turn.
func (a *auditor) checkHeard(ctx context.Context, entries []Entry) error {
	said, err := query[struct {
		Item, Text string
		Turns      int
	}](ctx, a.conn, `
		SELECT m ->> 'item_id', max(m ->> 'text'), count(*)::int FROM turns AS t, json_array_elements(t.messages) AS m
		WHERE m ->> 'role' = 'user' GROUP BY 1`)
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, one := range said {
		times[one.Item+" "+one.Text] = one.Turns
	}
	for _, e := range entries {
		if e.Noun != Said {
			continue
		}
		a.looked(heard, 1)
		if n := times[e.ID+" "+e.Mark]; n != 1 {
			a.found(heard, "%s %q is in %d turns", e.ID, e.Mark, n)
		}
	}
	return nil
}

// foldEntries folds the entries of a noun into one story for each thing.
func foldEntries(entries []Entry) map[string]*story {
	stories := map[string]*story{}
	for _, e := range entries {
		if e.ID == "" {
			continue
		}
		s := stories[e.ID]
		if s == nil {
			s = &story{id: e.ID, mark: e.Mark, fields: map[string]string{}}
			stories[e.ID] = s
		}
		switch {
		case e.Verb == Delete && e.answered():
			s.alive, s.dead = false, true
		case e.Verb == Delete && e.Status == 0:
			s.unsureDead = true
		case e.answered():
			s.alive, s.dead, s.unsure, s.unsureDead = true, false, false, false
			maps.Copy(s.fields, e.Fields)
		case e.Status == 0:
			s.unsure = true
		}
	}
	return stories
}

func (a *auditor) checkStories(t table, entries []Entry, rows map[string]row) {
	for id, s := range foldEntries(entries) {
		found, there := rows[id]
		switch {
		case s.dead:
			a.looked(goneFor, 1)
			if there {
				a.found(goneFor, "%s %s (%s) is still there", t.noun, id, s.mark)
			}
		case s.alive:
			a.looked(kept, 1)
			if !there && !s.unsureDead {
				a.found(kept, "%s %s (%s) is missing", t.noun, id, s.mark)
			}
		}
		if there && s.alive && !s.unsure {
			a.compare(t.noun, s, found)
		}
	}
}

func (a *auditor) compare(noun Noun, s *story, found row) {
	for name, want := range s.fields {
		a.looked(asSaid, 1)
		if got := found.Fields[name]; got != want {
			a.found(asSaid, "%s %s (%s): %s is %q, answered was %q", noun, s.id, s.mark, name, got, want)
		}
	}
}

// checkMarks counts what each creation left behind.
func (a *auditor) checkMarks(t table, entries []Entry, rows []row) {
	byMark := map[string][]string{}
	for _, r := range rows {
		byMark[r.Mark] = append(byMark[r.Mark], r.ID)
	}
	deleted := map[string]bool{}
	for _, e := range entries {
		if e.Verb == Delete && (e.answered() || e.Status == 0) {
			deleted[e.ID] = true
		}
	}
	for _, e := range entries {
		if e.Verb != Create {
			continue
		}
		most := 1
		if !e.Keyed {
			most = max(e.Requests, 1)
		}
		if deleted[e.ID] && e.ID != "" {
			most--
		}
		a.looked(once, 1)
		if ids := byMark[e.Mark]; len(ids) > most {
			a.found(once, "%s %q is there %d times after %d requests (status %d): %s", t.noun, e.Mark, len(ids),
				e.Requests, e.Status, strings.Join(ids, " "))
		}
		if refused := e.Status >= 400; refused && len(byMark[e.Mark]) > 0 {
			a.found(once, "%s %q was refused with %d after %d requests and is there", t.noun, e.Mark, e.Status, e.Requests)
		}
		delete(byMark, e.Mark)
	}
	a.looked(wanted, len(rows))
	for _, mark := range slices.Sorted(maps.Keys(byMark)) {
		a.found(wanted, "%s %q: %s", t.noun, mark, strings.Join(byMark[mark], " "))
	}
}

// checkBuried looks for the tombstones of what was answered as deleted.
func (a *auditor) checkBuried(ctx context.Context, noun Noun, entries []Entry) error {
	stones, err := query[struct{ ID string }](ctx, a.conn, "SELECT id FROM tombstones")
	if err != nil {
		return fmt.Errorf("read tombstones: %w", err)
	}
	buried := map[string]bool{}
	for _, stone := range stones {
		buried[stone.ID] = true
	}
	for id, s := range foldEntries(entries) {
		if s.dead && !buried[id] {
			a.found(goneFor, "%s %s (%s) has no tombstone", noun, id, s.mark)
		}
	}
	return nil
}
