package callbacks

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/phone"
)

const (
	// maxRecipientBytes limits what is read of a file; the service takes 8 MiB.
	maxRecipientBytes = 8 << 20
	// maxComplaints is how many lines an error names.
	maxComplaints = 5
)

// The columns that are not variables.
const (
	columnNumber = "phone_number"
	columnUser   = "user_id"
	columnZone   = "timezone"
)

// recipients reads the recipients of a batch from a CSV file or, for "-", from the input.
func (s *service) recipients(path string) ([]*parlancev1.CallbackRecipient, error) {
	in := s.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, command.Usage(err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxRecipientBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxRecipientBytes {
		return nil, command.Usagef("%s is larger than 8 MiB: make several batches of it", path)
	}
	all, err := parseRecipients(text)
	if err != nil {
		return nil, command.Usagef("%s: %w", term.Clean(path), err)
	}
	return all, nil
}

// parseRecipients reads CSV with a header. Columns other than phone_number, user_id and timezone
// are variables. Columns are separated by commas, or by semicolons when the header has no comma.
func parseRecipients(text []byte) ([]*parlancev1.CallbackRecipient, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write it
	first, _, _ := bytes.Cut(text, []byte("\n"))
	lines := csv.NewReader(bytes.NewReader(text))
	if !bytes.Contains(first, []byte(",")) && bytes.Contains(first, []byte(";")) {
		lines.Comma = ';'
	}
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty: its first line names the columns, such as phone_number,user_id,timezone,order")
	}
	if err != nil {
		return nil, err
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	var all []*parlancev1.CallbackRecipient
	var wrong []string
	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		one := recipientOf(header, cells)
		if _, ok := phone.Parse(one.GetPhoneNumber()); !ok {
			line, _ := lines.FieldPos(0)
			wrong = append(wrong, fmt.Sprintf("line %d: %q is no number with its country's code, such as +4930123456", line, one.GetPhoneNumber()))
		}
		all = append(all, one)
	}
	switch {
	case len(wrong) > maxComplaints:
		return nil, fmt.Errorf("%s\nand %d other lines", strings.Join(wrong[:maxComplaints], "\n"), len(wrong)-maxComplaints)
	case len(wrong) > 0:
		return nil, errors.New(strings.Join(wrong, "\n"))
	case len(all) == 0:
		return nil, errors.New("it has no line but the header: nobody is to be called")
	}
	return all, nil
}

// checkHeader trims the names of the columns, and refuses a header without a number.
func checkHeader(header []string) error {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
		if header[i] == "" {
			return fmt.Errorf("column %d has no name in the first line", i+1)
		}
		if slices.Contains(header[:i], header[i]) {
			return fmt.Errorf("there are two columns %s", header[i])
		}
	}
	if !slices.Contains(header, columnNumber) {
		return fmt.Errorf("its first line names the columns, and has no %s; it has %s", columnNumber, strings.Join(header, ", "))
	}
	return nil
}

func recipientOf(header, cells []string) *parlancev1.CallbackRecipient {
	one := &parlancev1.CallbackRecipient{DynamicVariables: map[string]string{}}
	for i, name := range header {
		value := strings.TrimSpace(cells[i])
		switch name {
		case columnNumber:
			one.PhoneNumber = value
		case columnUser:
			one.UserId = value
		case columnZone:
			one.Timezone = value
		default:
			one.DynamicVariables[name] = value
		}
	}
	return one
}
