package realtime

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// appendKept writes a frame: its mark, its id, its answer's id and its data, each with its length.
func appendKept(to []byte, k kept) []byte {
	to = append(to, byte(k.mark))
	for _, part := range [][]byte{[]byte(k.ID), []byte(k.response), k.Data} {
		to = binary.AppendUvarint(to, uint64(len(part)))
		to = append(to, part...)
	}
	return to
}

// readKept reads the frames of one entry. Errors: the entry is not one of ours.
func readKept(from []byte) ([]kept, error) {
	var frames []kept
	for len(from) > 0 {
		k := kept{mark: mark(from[0])}
		from = from[1:]
		var parts [3][]byte
		for i := range parts {
			size, n := binary.Uvarint(from)
			if n <= 0 || size > uint64(len(from)-n) {
				return nil, errors.New("an entry of frames is cut off")
			}
			parts[i], from = from[n:n+int(size)], from[n+int(size):] //nolint:gosec // it is at most the length of from
		}
		k.Frame = dialect.Frame{ID: string(parts[0]), Data: slices.Clone(parts[2])}
		k.response = string(parts[1])
		frames = append(frames, k)
	}
	return frames, nil
}

// trail is what one socket of a channel was sent, as far as Redis has it.
type trail struct {
	stream string
	frames []kept
	// last is the newest entry that was read; "" is none.
	last string
	// ended says that nothing follows.
	ended bool
	// gapped says that the last reading met a gap.
	gapped bool
}

// trails are those of the channel's last sockets, newest first, without the one with this number.
func (r *relay) trails(ctx context.Context, id sessions.ID, channel sessions.LiveChannel, but int64) ([]*trail, error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	numbers, err := r.redis.LRange(ctx, listKey(id, channel), 0, relaySockets-1).Result()
	if err != nil {
		return nil, fmt.Errorf("reading the sockets of a session: %w", err)
	}
	var trails []*trail
	for _, text := range slices.Compact(numbers) {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number == but {
			continue
		}
		t := &trail{stream: streamKey(id, channel, number)}
		if _, err := r.follow(ctx, t); err != nil {
			return nil, err
		}
		trails = append(trails, t)
	}
	return trails, nil
}

// follow reads what has been added to a trail and returns it.
func (r *relay) follow(ctx context.Context, t *trail) ([]kept, error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	from := "-"
	if t.last != "" {
		from = "(" + t.last
	}
	entries, err := r.redis.XRange(ctx, t.stream, from, "+").Result()
	if err != nil {
		return nil, fmt.Errorf("reading frames: %w", err)
	}
	t.gapped = false
	var added []kept
	for _, entry := range entries {
		t.last = entry.ID
		frames, gap, ended, err := readEntry(entry)
		if err != nil {
			return nil, err
		}
		if gap {
			t.frames, added, t.gapped = nil, nil, true // what lies before it is not whole
		}
		added, t.ended = append(added, frames...), t.ended || ended
	}
	t.frames = append(t.frames, added...)
	return added, nil
}

func readEntry(entry goredis.XMessage) (frames []kept, gap, ended bool, err error) {
	text, _ := entry.Values[fieldFrames].(string)
	frames, err = readKept([]byte(text))
	_, gap = entry.Values[fieldGap]
	_, ended = entry.Values[fieldEnd]
	return frames, gap, ended, err
}

// missed is what lies behind the event with this id on the newest trail that has it, and then what
// later sockets were sent beside it; false when no trail has it.
func missed(trails []*trail, id string) ([]kept, bool) {
	for i, t := range trails {
		frames, found := after(t.frames, id)
		if !found {
			continue
		}
		sent := ids(t.frames)
		frames = slices.Clone(frames)
		for _, later := range slices.Backward(trails[:i]) {
			frames = append(frames, unseen(later.frames, sent)...)
		}
		return frames, true
	}
	return nil, false
}

func ids(frames []kept) map[string]bool {
	seen := make(map[string]bool, len(frames))
	for _, k := range frames {
		seen[k.ID] = true
	}
	return seen
}

// unseen are the frames that are not in seen, which they are put into.
func unseen(frames []kept, seen map[string]bool) []kept {
	var fresh []kept
	for _, k := range frames {
		if !seen[k.ID] || k.mark&markHello != 0 {
			fresh = append(fresh, k)
		}
	}
	for _, k := range fresh {
		seen[k.ID] = true
	}
	return fresh
}
