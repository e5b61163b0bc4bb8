package agents

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// fields are the flags for the fields of an agent.
type fields struct {
	file, name, instructions, firstMessage, language, model, provider string
	redact                                                            []string
	transcriptDays, audioDays                                         int32
	zeroRetention                                                     bool
	json                                                              bool

	flags *pflag.FlagSet
}

func (f *fields) add(cmd *cobra.Command) {
	f.flags = cmd.Flags()
	f.flags.StringVar(&f.file, "file", "", "JSON file with the fields as in the API; - is the standard input")
	f.flags.StringVar(&f.name, "name", "", "name for people")
	f.flags.StringVar(&f.instructions, "instructions", "", "what it is to do; @file reads them from a file")
	f.flags.StringVar(&f.firstMessage, "first-message", "", "what it says first")
	f.flags.StringVar(&f.language, "language", "", "language that it speaks, such as en")
	f.flags.StringVar(&f.model, "model", "", "name of the model")
	f.flags.StringVar(&f.provider, "provider", "", "provider of the model")
	f.flags.StringSliceVar(&f.redact, "redact", nil, `personal data that is not stored, of card,email,phone,iban; "" stores all`)
	f.flags.Int32Var(&f.transcriptDays, "transcript-days", 0,
		"how many days after their end its sessions are deleted, also those that there are; 0 goes by the workspace")
	f.flags.Int32Var(&f.audioDays, "audio-days", 0,
		"how many days after their end recordings of its sessions are deleted, also those that there are; 0 goes by the workspace")
	f.flags.BoolVar(&f.zeroRetention, "zero-retention", false,
		"keep nothing that is said: it is stored encrypted until it is delivered to your webhooks, then deleted; turns memory and analysis off")
	f.flags.BoolVar(&f.json, "json", false, "print the agent as a line of JSON")
}

// given reports whether a flag was given. It makes flags win over the file.
func (f *fields) given(flag string) bool { return f.flags.Changed(flag) }

// text returns the value of a flag, or the content of the file that @file names.
func text(value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return value, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", command.Usage(err)
	}
	return string(content), nil
}

func newCreate() *cobra.Command {
	var f fields
	cmd := &cobra.Command{
		Use: "create", Short: "Make an agent", Args: command.ExactArgs(),
		Long: `Makes an agent of flags, or of a JSON file with the fields as the API has them; flags win over the file.`,
		Example: `  parlance agents create --name Ada --instructions "Answer in one sentence."
  parlance agents create --file agent.json --json | jq -r .id`,
		RunE: with(func(ctx context.Context, c *client.Caller, _ []string) error {
			req := &parlancev1.CreateAgentRequest{}
			if f.file != "" {
				if _, err := c.ReadMessage(f.file, req); err != nil {
					return err
				}
			}
			if err := f.apply(req); err != nil {
				return err
			}
			req.WorkspaceId = c.WorkspaceID
			made, err := c.Agents.CreateAgent(ctx, req)
			if err != nil {
				return c.Explain("make the agent", err)
			}
			if f.json {
				return c.PrintMessage(made)
			}
			c.Line("made %s (%s). Talk to it: parlance chat --agent %s", made.GetName(), made.GetId(), made.GetId())
			return nil
		}),
	}
	f.add(cmd)
	return cmd
}

// apply sets the fields of the flags that were given.
func (f *fields) apply(req *parlancev1.CreateAgentRequest) error {
	for flag, field := range map[string]*string{
		"name": &req.Name, "instructions": &req.Instructions, "first-message": &req.FirstMessage, "language": &req.Language,
	} {
		if err := f.set(flag, field); err != nil {
			return err
		}
	}
	req.Model, req.Privacy = f.modelOf(req.GetModel()), f.privacyOf(req.GetPrivacy())
	return nil
}

// set sets a field of the flag, when it was given.
func (f *fields) set(flag string, field *string) error {
	if !f.given(flag) {
		return nil
	}
	value := f.flags.Lookup(flag).Value.String()
	var err error
	if flag == "instructions" {
		value, err = text(value)
	}
	*field = value
	return err
}

// modelOf returns the model with the changes of --model and --provider.
func (f *fields) modelOf(model *parlancev1.AgentModel) *parlancev1.AgentModel {
	if !f.given("model") && !f.given("provider") {
		return model
	}
	if model == nil {
		model = &parlancev1.AgentModel{}
	}
	if f.given("model") {
		model.Name = f.model
	}
	if f.given("provider") {
		model.Provider = f.provider
	}
	return model
}

// privacyOf returns the settings with the changes of --redact, --zero-retention, --transcript-days
// and --audio-days.
func (f *fields) privacyOf(privacy *parlancev1.PrivacySettings) *parlancev1.PrivacySettings {
	if !f.privacyGiven() {
		return privacy
	}
	if privacy == nil {
		privacy = &parlancev1.PrivacySettings{}
	}
	if f.given("redact") {
		privacy.Redact = slices.DeleteFunc(slices.Clone(f.redact), func(kind string) bool { return kind == "" })
	}
	if f.given("zero-retention") {
		privacy.ZeroRetention = f.zeroRetention
	}
	if privacy.GetRetention() == nil && (f.given("transcript-days") || f.given("audio-days")) {
		privacy.Retention = &parlancev1.RetentionSettings{}
	}
	if f.given("transcript-days") {
		privacy.Retention.TranscriptDays = f.transcriptDays
	}
	if f.given("audio-days") {
		privacy.Retention.AudioDays = f.audioDays
	}
	return privacy
}

// keepNothing turns off what cannot be on beside --zero-retention, unless the file states it.
func (f *fields) keepNothing(req *parlancev1.UpdateAgentRequest, stored *parlancev1.Agent) {
	if req.GetMemory() == nil && stored.GetMemory().GetEnabled() {
		req.Memory = stored.GetMemory()
		req.Memory.Enabled = false
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "memory")
	}
	if req.GetAnalysis() == nil && stored.GetAnalysis().GetEnabled() {
		req.Analysis = stored.GetAnalysis()
		req.Analysis.Enabled = false
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "analysis")
	}
	if req.GetVoice() == nil && stored.GetVoice().GetRecording().GetEnabled() {
		req.Voice = &parlancev1.AgentVoice{Recording: &parlancev1.AgentRecording{}}
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "voice.recording.enabled")
	}
}

func (f *fields) privacyGiven() bool {
	return f.given("redact") || f.given("zero-retention") || f.given("transcript-days") || f.given("audio-days")
}

func newUpdate() *cobra.Command {
	var f fields
	cmd := &cobra.Command{
		Use: "update AGENT", Short: "Change an agent; sessions that are open keep what they began with", Args: command.ExactArgs("AGENT"),
		Long: `Changes the fields that are given, by flags or in a JSON file, and keeps the rest. Each change makes a version.`,
		Example: `  parlance agents update default --first-message "Hello, this is Ada."
  echo '{"max_duration_seconds": 600}' | parlance agents update agt_01j… --file -`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			req, err := f.update(c)
			if err != nil {
				return err
			}
			one, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			if f.given("model") || f.given("provider") {
				if req.GetModel() == nil {
					req.Model = one.GetModel() // keeps its other members
				}
				req.Model = f.modelOf(req.GetModel())
			}
			if f.privacyGiven() {
				if req.GetPrivacy() == nil {
					req.Privacy = one.GetPrivacy()
				}
				req.Privacy = f.privacyOf(req.GetPrivacy())
			}
			if f.zeroRetention {
				f.keepNothing(req, one)
			}
			req.WorkspaceId, req.AgentId = c.WorkspaceID, one.GetId()
			changed, err := c.Agents.UpdateAgent(ctx, req)
			if err != nil {
				return c.Explain("change the agent", err)
			}
			if f.json {
				return c.PrintMessage(changed)
			}
			c.Line("%s (%s) has the version %d.", changed.GetName(), changed.GetId(), changed.GetVersion())
			return nil
		}),
	}
	f.add(cmd)
	return cmd
}

// update makes the request of the file and of the flags other than those of the model.
func (f *fields) update(c *client.Caller) (*parlancev1.UpdateAgentRequest, error) {
	req := &parlancev1.UpdateAgentRequest{}
	var changes []string
	if f.file != "" {
		var err error
		if changes, err = c.ReadMessage(f.file, req); err != nil {
			return nil, err
		}
	}
	for flag, field := range map[string]**string{
		"name": &req.Name, "instructions": &req.Instructions, "first-message": &req.FirstMessage, "language": &req.Language,
	} {
		if !f.given(flag) {
			continue
		}
		*field = new(string)
		if err := f.set(flag, *field); err != nil {
			return nil, err
		}
		changes = append(changes, strings.ReplaceAll(flag, "-", "_"))
	}
	if f.given("model") || f.given("provider") {
		changes = append(changes, "model")
	}
	if f.privacyGiven() {
		changes = append(changes, "privacy")
	}
	slices.Sort(changes)
	req.UpdateMask = &fieldmaskpb.FieldMask{Paths: slices.Compact(changes)}
	if len(changes) == 0 {
		return nil, command.Usagef("nothing is to change: say what, such as --instructions @ada.md")
	}
	return req, nil
}
