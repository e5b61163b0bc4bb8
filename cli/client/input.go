package client

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/cli/command"
)

// maxInput limits what is read of a file with a request; the service takes no larger one.
const maxInput = 1 << 20

// ReadMessage reads a JSON object in the form of the REST API into message, from a file or, for
// "-", from the input. It returns the names of the members: those that an update changes.
func (c *Caller) ReadMessage(path string, message proto.Message) (fields []string, err error) {
	in := c.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, command.Usage(err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxInput {
		return nil, command.Usagef("%s is larger than 1 MiB", path)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, command.Usagef("%s is not a JSON object: %w", path, err)
	}
	if err := protojson.Unmarshal(text, message); err != nil {
		return nil, command.Usagef("%s: %w", path, err)
	}
	return slices.Sorted(maps.Keys(members)), nil
}
