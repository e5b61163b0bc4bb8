package callbacks

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/server/problem"
)

// maxRecipientBytes limits what is read of a file; the service takes 8 MiB.
const maxRecipientBytes = 8 << 20

// The columns that are not variables.
const (
	columnNumber = "phone_number"
	columnUser   = "user_id"
	columnZone   = "timezone"
)

// recipientFile is a CSV file of recipients.
type recipientFile struct {
	path string
	all  []*parlancev1.CallbackRecipient
	// lines are where the recipients are in the file.
	lines []int
}

// recipients reads the recipients of a batch from a CSV file or, for "-", from the input.
func (s *service) recipients(path string) (recipientFile, error) {
	in := s.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return recipientFile{}, command.Usage(err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxRecipientBytes+1))
	if err != nil {
		return recipientFile{}, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxRecipientBytes {
		return recipientFile{}, command.Usagef("%s is larger than 8 MiB: make several batches of it", path)
	}
	file := recipientFile{path: path}
	if err := file.parse(text); err != nil {
		return recipientFile{}, command.Usagef("%s: %w", term.Clean(path), err)
	}
	return file, nil
}

// parse reads CSV with a header. Columns other than phone_number, user_id and timezone are
// variables. Columns are separated by commas, or by semicolons when the header has no comma. What
// the cells hold is for the service to judge; see complaints.
func (f *recipientFile) parse(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write it
	first, _, _ := bytes.Cut(text, []byte("\n"))
	rows := csv.NewReader(bytes.NewReader(text))
	if !bytes.Contains(first, []byte(",")) && bytes.Contains(first, []byte(";")) {
		rows.Comma = ';'
	}
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty: its first line names the columns, such as phone_number,user_id,timezone,order")
	}
	if err != nil {
		return err
	}
	if err := checkHeader(header); err != nil {
		return err
	}
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		line, _ := rows.FieldPos(0)
		f.all, f.lines = append(f.all, recipientOf(header, cells)), append(f.lines, line)
	}
	if len(f.all) == 0 {
		return errors.New("it has no line but the header: nobody is to be called")
	}
	return nil
}

// placeInRequest matches what the service calls a recipient.
var placeInRequest = regexp.MustCompile(`recipients\[([0-9]+)\]`)

// complaints are what the service says of recipients, by the lines of the file, and what else it
// refuses with them; nil when no recipient is bad.
func (f *recipientFile) complaints(err error) error {
	var wrong []string
	ofRecipients := false
	for _, field := range problem.FromConnect(err).Fields {
		where, name, within := strings.Cut(field.Field, ".")
		text := field.Message
		if within && !strings.HasPrefix(text, name+" ") {
			text = name + ": " + text
		}
		ofRecipients = ofRecipients || within && placeInRequest.MatchString(where)
		wrong = append(wrong, f.withLines(where+": "+text))
	}
	if !ofRecipients {
		return nil
	}
	return command.Usagef("%s: %s", term.Clean(f.path), term.CleanText(strings.Join(wrong, "\n")))
}

// withLines replaces the service's names of recipients by their lines.
func (f *recipientFile) withLines(text string) string {
	return placeInRequest.ReplaceAllStringFunc(text, func(name string) string {
		place, err := strconv.Atoi(placeInRequest.FindStringSubmatch(name)[1])
		if err != nil || place >= len(f.lines) {
			return name
		}
		return "line " + strconv.Itoa(f.lines[place])
	})
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
