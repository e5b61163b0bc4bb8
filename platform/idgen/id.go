package idgen

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Prefix says what an id names, underscore included.
type Prefix string

// The prefixes. Source: decisions, Addressing and versions; those after DSAR are our own.
const (
	Source     Prefix = "src_"
	Chunk      Prefix = "chk_"
	Agent      Prefix = "agt_"
	Session    Prefix = "ses_"
	Turn       Prefix = "turn_"
	Endpoint   Prefix = "we_"
	Event      Prefix = "evt_"
	Delivery   Prefix = "dlv_"
	Key        Prefix = "key_"
	Workspace  Prefix = "ws_"
	Tenant     Prefix = "ten_"
	Memory     Prefix = "mem_"
	Callback   Prefix = "cb_"
	Schedule   Prefix = "sch_"
	DSAR       Prefix = "dsar_"
	Attachment Prefix = "att_"
	Item       Prefix = "item_"
	Response   Prefix = "resp_"
	ToolCall   Prefix = "call_"
	Request    Prefix = "req_"
	Credential Prefix = "cred_"
	Evaluation Prefix = "evl_"
	Audit      Prefix = "aud_"
	UsageAlert Prefix = "ual_"
	Recording  Prefix = "rec_"
	PhoneCall  Prefix = "pcl_"
	Number     Prefix = "num_"
	Batch      Prefix = "bat_"
	Person     Prefix = "per_"
)

// alphabet is Crockford's base32 in lower case: digits and letters without i, l, o, u, in
// ASCII order, so that ids sort as text.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// encodedChars holds 128 bits at 5 a character; the first character carries 3 of them.
const encodedChars = 26

// process is the generator behind New. It is the one state of this package: an order within
// the process can only be kept by something the whole process shares.
var process = NewGenerator(time.Now, rand.Reader)

// New makes an id of this process, e.g. New(Source) = "src_01k2x3…", 26 characters after the
// prefix.
func New(prefix Prefix) string { return process.New(prefix) }

// UUID makes a version 7 UUID, the id of a custom tool; it sorts like the ids of New.
func UUID() string {
	// NewV7 fails only when the system has no randomness, which crypto/rand turns into a crash
	// before it gets here.
	return uuid.Must(uuid.NewV7()).String()
}

// Valid says whether id has the shape New(prefix) gives. What is not valid cannot exist, so
// callers answer not-found without asking the database.
func Valid(prefix Prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, string(prefix))
	if !ok || len(rest) != encodedChars || rest[0] > '7' {
		return false
	}
	for _, c := range rest {
		if !strings.ContainsRune(alphabet, c) {
			return false
		}
	}
	return true
}

// ValidUUID says whether id is a UUID in its canonical lower-case form.
func ValidUUID(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}

// Generator makes ids in order. Use New unless time and chance must be your own. Safe for
// concurrent use.
type Generator struct {
	now  func() time.Time
	rand io.Reader

	mu     sync.Mutex
	millis uint64
	random [10]byte
}

// NewGenerator makes a generator over a clock and a source of randomness.
func NewGenerator(now func() time.Time, random io.Reader) *Generator {
	return &Generator{now: now, rand: random}
}

// New makes an id that sorts after every id this generator made before. It panics when the
// randomness cannot be read: there is no id to go on with.
func (g *Generator) New(prefix Prefix) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	// 48 bits of milliseconds last until the year 10889, and no clock we believe is before 1970.
	if millis := uint64(max(0, g.now().UnixMilli())); millis > g.millis {
		g.millis = millis
		mustRead(g.rand, g.random[:])
	} else {
		g.increment()
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], g.millis<<16)
	copy(id[6:], g.random[:])
	return string(prefix) + encode(id)
}

// increment moves the random part up by 1 to 2^32, so that neighbours within a millisecond
// stay in order and cannot be counted; on overflow the next millisecond is borrowed.
func (g *Generator) increment() {
	var step [4]byte
	mustRead(g.rand, step[:])
	low := binary.BigEndian.Uint64(g.random[2:])
	sum := low + uint64(binary.BigEndian.Uint32(step[:])) + 1
	binary.BigEndian.PutUint64(g.random[2:], sum)
	if sum > low {
		return
	}
	high := binary.BigEndian.Uint16(g.random[:2]) + 1
	binary.BigEndian.PutUint16(g.random[:2], high)
	if high != 0 {
		return
	}
	g.millis++
	mustRead(g.rand, g.random[:])
}

// encode writes 128 bits as 26 characters, most significant first.
func encode(id [16]byte) string {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var out [encodedChars]byte
	for i := encodedChars - 1; i >= 0; i-- {
		out[i] = alphabet[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(out[:])
}

func mustRead(random io.Reader, buf []byte) {
	if _, err := io.ReadFull(random, buf); err != nil {
		panic("idgen: no randomness: " + err.Error())
	}
}
