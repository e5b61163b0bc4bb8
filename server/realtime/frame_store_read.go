package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// remoteFrames is what one socket of another node was sent, as far as Redis has it.
type remoteFrames struct {
	stream string
	frames []sentFrame
	// lastEntry is the newest entry that was read; empty: none.
	lastEntry string
	// ended is set when no frame follows.
	ended bool
	// hasGap is set when the last reading met a gap.
	hasGap bool
}

// read reads what a channel's last sockets were sent, newest socket first, without the socket with
// the number except.
func (s *frameStore) read(
	ctx context.Context, id sessions.ID, channel sessions.Channel, except int64,
) ([]*remoteFrames, error) {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	numbers, err := s.redis.LRange(ctx, listKey(id, channel), 0, maxStreams-1).Result()
	if err != nil {
		return nil, fmt.Errorf("reading the sockets of a session: %w", err)
	}
	var all []*remoteFrames
	for _, text := range slices.Compact(numbers) {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number == except {
			continue
		}
		remote := &remoteFrames{stream: streamKey(id, channel, number)}
		if _, err := s.readMore(ctx, remote); err != nil {
			return nil, err
		}
		all = append(all, remote)
	}
	return all, nil
}

// readMore reads the frames that were added since the last reading, and returns them.
func (s *frameStore) readMore(ctx context.Context, remote *remoteFrames) ([]sentFrame, error) {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	start := "-"
	if remote.lastEntry != "" {
		start = "(" + remote.lastEntry
	}
	entries, err := s.redis.XRange(ctx, remote.stream, start, "+").Result()
	if err != nil {
		return nil, fmt.Errorf("reading frames: %w", err)
	}
	remote.hasGap = false
	var added []sentFrame
	for _, entry := range entries {
		remote.lastEntry = entry.ID
		frames, err := decodeFrames(entry)
		if err != nil {
			return nil, err
		}
		if _, gap := entry.Values[fieldGap]; gap { // the frames before it are not complete
			remote.frames, added, remote.hasGap = nil, nil, true
		}
		_, ended := entry.Values[fieldEnd]
		added, remote.ended = append(added, frames...), remote.ended || ended
	}
	remote.frames = append(remote.frames, added...)
	return added, nil
}

// decodeFrames reads the frames of an entry.
func decodeFrames(entry goredis.XMessage) ([]sentFrame, error) {
	text, _ := entry.Values[fieldFrames].(string)
	decoder := json.NewDecoder(strings.NewReader(text))
	var frames []sentFrame
	for {
		var stored storedFrame
		if err := decoder.Decode(&stored); errors.Is(err, io.EOF) {
			return frames, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading an entry of frames: %w", err)
		}
		frames = append(frames, sentFrame{
			Frame: dialect.Frame{ID: stored.ID, Data: stored.Data},
			marks: stored.Marks, responseID: stored.ResponseID,
		})
	}
}

// missedFrames is the frames behind the event with this id in the newest stream that has it, and
// then what later sockets were sent beside them; false when no stream has the event.
func missedFrames(streams []*remoteFrames, id string) ([]sentFrame, bool) {
	for i, remote := range streams {
		missed, found := framesAfter(remote.frames, id)
		if !found {
			continue
		}
		sent := idsOf(remote.frames)
		missed = slices.Clone(missed)
		for _, later := range slices.Backward(streams[:i]) {
			missed = append(missed, takeUnseen(later.frames, sent)...)
		}
		return missed, true
	}
	return nil, false
}
