package recordings

import (
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// RateHz is the number of samples a second of each channel.
	RateHz = 16000
	// framesPerMS is RateHz in milliseconds. A frame is one sample of each channel.
	framesPerMS = RateHz / 1000
	// channels is 2: the user left, the agent right.
	channels = 2
	// frameBytes is the size of a frame.
	frameBytes = channels * 2
	// headerBytes is the size of what is before the samples of a WAV file.
	headerBytes = 44
)

// Channel says who is heard.
type Channel int

// The channels, in the order of the file.
const (
	User  Channel = 0
	Agent Channel = 1
)

// String is the role in the API.
func (c Channel) String() string {
	if c == Agent {
		return "agent"
	}
	return "user"
}

// Status says what there is of a recording; see the drawing in doc.go.
type Status string

// The statuses. None is that of a session which is not recorded, or had no voice socket yet.
const (
	None       Status = "none"
	Recording  Status = "recording"
	Ready      Status = "ready"
	Incomplete Status = "incomplete"
	Erased     Status = "erased"
)

// View describes the recording of a session.
type View struct {
	Status Status
	// CreatedAt is when the first part began.
	CreatedAt time.Time
	// Frames is the length that is stored. A frame is one sample of each channel.
	Frames int64
	Parts  []Part
}

// DurationMS is the length in milliseconds.
func (v View) DurationMS() int { return msOf(v.Frames) }

// SizeBytes is the size of the WAV file; 0 when there is none.
func (v View) SizeBytes() int64 {
	if v.Frames == 0 {
		return 0
	}
	return int64(headerBytes) + v.Frames*frameBytes
}

// Part is what was recorded of one voice socket.
type Part struct {
	bun.BaseModel `bun:"table:recording_parts,alias:p"`

	ID          string              `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SessionID   sessions.ID         `bun:"session_id"`
	AgentID     agents.ID           `bun:"agent_id"`
	StartedAt   time.Time           `bun:"started_at"`
	// OffsetMS is the time from the session's start to StartedAt.
	OffsetMS int `bun:"offset_ms"`
	// EndedAt is when all of the part was stored; zero while it goes on, and when its server was lost.
	EndedAt time.Time `bun:"ended_at,nullzero"`
	// Incomplete says that the bucket could not take all of it.
	Incomplete bool      `bun:"incomplete"`
	ErasedAt   time.Time `bun:"erased_at,nullzero"`

	// Frames is how much is stored, FromFrame where it begins in the recording.
	Frames    int64 `bun:"frames,scanonly"`
	FromFrame int64 `bun:"-"`
}

// FromMS is where the part begins in the recording.
func (p Part) FromMS() int { return msOf(p.FromFrame) }

// DurationMS is the length of the part that is stored.
func (p Part) DurationMS() int { return msOf(p.Frames) }

// Mark is when a word or a sentence is heard. It has no text.
type Mark struct {
	// ItemID is the item of the conversation that the text is in.
	ItemID string `json:"item_id"`
	// FromChar and ToChar (exclusive) are its place in the item's text, in characters.
	FromChar int `json:"from_char"`
	ToChar   int `json:"to_char"`
	// FromMS and ToMS are its time: for Recorder.Mark in audio time of the socket, for Service.Marks
	// in the recording.
	FromMS  int     `json:"from_ms"`
	ToMS    int     `json:"to_ms"`
	Channel Channel `json:"channel"`
}

// msOf is how many milliseconds frames last, rounded down.
func msOf(frames int64) int { return int(frames / framesPerMS) }

// isRecorded reports whether the voice sockets of a session are recorded.
func isRecorded(session sessions.Session) bool {
	return session.Config.Records() && session.HasChannel(sessions.VoiceChannel)
}

// noRecording is the error for a session without a recording that can be read.
func noRecording(session sessions.ID) error {
	return fault.New(fault.ResourceNotFound, "The session %s has no recording: its agent does not record (voice.recording), it has had no "+
		"voice socket, or its recording was kept no longer. The session's recording.status says which.", session)
}

// storedSegment is a row of recording_segments.
type storedSegment struct {
	bun.BaseModel `bun:"table:recording_segments,alias:g"`

	PartID      string              `bun:"part_id,pk"`
	Number      int                 `bun:"number,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SessionID   sessions.ID         `bun:"session_id"`
	// Key is that of the file; empty for silence.
	Key    string `bun:"key"`
	Frames int64  `bun:"frames"`
	// Marks have times of the part.
	Marks []Mark `bun:"marks,type:jsonb"`
	// DueAt is when the file is deleted; zero: it is kept.
	DueAt time.Time `bun:"due_at,nullzero"`
}
