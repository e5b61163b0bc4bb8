// Command injection measures the detector of injected instructions (guards.Inspect) on public
// collections of attacks: what it finds, and its false alarms beside it.
//
//	go run ./test/eval/injection -collection DIR
//
// DIR is a checkout of InjecAgent, BIPIA, InjecGuard (NotInject) or PurpleLlama, a directory with
// deepset/prompt-injections as train.jsonl and test.jsonl, or one with Markdown files, which count
// as harmless.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parlance.dev/parlance/guards"
)

// chunkBytes is about the size of a passage.
const chunkBytes = 3000

// count is what was found in a group of texts.
type count struct {
	found, all int
	rules      map[string]int
}

// collection counts by group; a group's name ends with "attacks" or "harmless".
type collection map[string]*count

func (c collection) inspect(group, text string) {
	if c[group] == nil {
		c[group] = &count{rules: map[string]int{}}
	}
	c[group].all++
	if rule := guards.Inspect(text); rule != "" {
		c[group].found++
		c[group].rules[rule]++
	}
}

func main() {
	dir := flag.String("collection", "", "directory of the collection")
	flag.Parse()
	c := collection{}
	for _, read := range []func(string) error{c.injecAgent, c.bipia, c.notInject, c.purpleLlama, c.deepset} {
		if err := read(*dir); err != nil {
			fmt.Fprintln(os.Stderr, "injection:", err)
			os.Exit(1)
		}
	}
	if len(c) == 0 {
		if err := c.markdown(*dir); err != nil {
			fmt.Fprintln(os.Stderr, "injection:", err)
			os.Exit(1)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(c)) {
		n := c[group]
		fmt.Printf("%-44s %5d of %5d %5.1f %%  %v\n", group, n.found, n.all, 100*float64(n.found)/float64(n.all), n.rules)
	}
}

// injecAgent reads answers of tools with an attack in them, and simulated answers without.
func (c collection) injecAgent(dir string) error {
	for _, kind := range []string{"dh_base", "dh_enhanced", "ds_base", "ds_enhanced"} {
		var cases []map[string]any
		if err := decode(dir, "data/test_cases_"+kind+".json", &cases); err != nil {
			return err
		}
		for _, one := range cases {
			c.inspect("InjecAgent "+kind[3:]+" attacks", fmt.Sprint(one["Tool Response"]))
		}
	}
	var answers map[string]any
	if err := decode(dir, "data/attacker_simulated_responses.json", &answers); err != nil {
		return err
	}
	for _, answer := range answers {
		c.inspect("InjecAgent harmless", fmt.Sprint(answer))
	}
	return nil
}

// bipia reads e-mails, tables and code, and e-mails with an attack at their end.
func (c collection) bipia(dir string) error {
	for _, half := range []string{"train", "test"} {
		var mails []string
		for _, kind := range []string{"email", "table", "code"} {
			var rows []struct{ Context any }
			if err := decode(dir, "benchmark/"+kind+"/"+half+".jsonl", &rows); err != nil {
				return err
			}
			for _, row := range rows {
				c.inspect("BIPIA "+kind+" harmless", fmt.Sprint(row.Context))
				if kind == "email" {
					mails = append(mails, fmt.Sprint(row.Context))
				}
			}
		}
		var attacks map[string][]string
		if err := decode(dir, "benchmark/text_attack_"+half+".json", &attacks); err != nil {
			return err
		}
		for _, texts := range attacks {
			for i, text := range texts {
				c.inspect("BIPIA "+half+" attacks", mails[i%len(mails)]+"\n"+text)
			}
		}
	}
	return nil
}

// notInject reads harmless questions that have the words of attacks.
func (c collection) notInject(dir string) error {
	for _, words := range []string{"one", "two", "three"} {
		var rows []struct{ Prompt string }
		if err := decode(dir, "datasets/NotInject_"+words+".json", &rows); err != nil {
			return err
		}
		for _, row := range rows {
			c.inspect("NotInject harmless", row.Prompt)
		}
	}
	return nil
}

// purpleLlama reads the attacks of CyberSecEval.
func (c collection) purpleLlama(dir string) error {
	for _, name := range []string{"prompt_injection", "prompt_injection_multilingual_machine_translated"} {
		var rows []struct {
			Text    string `json:"user_input"`
			Variant string `json:"injection_variant"`
		}
		if err := decode(dir, "CybersecurityBenchmarks/datasets/prompt_injection/"+name+".json", &rows); err != nil {
			return err
		}
		language := "English"
		if strings.Contains(name, "multilingual") {
			language = "translated"
		}
		for _, row := range rows {
			c.inspect("CyberSecEval "+language+" attacks", row.Text)
			if row.Variant == "ignore_previous_instructions" {
				c.inspect("CyberSecEval "+language+", ignore… attacks", row.Text)
			}
		}
	}
	return nil
}

// deepset reads prompts with label 1 for attacks.
func (c collection) deepset(dir string) error {
	for _, half := range []string{"train", "test"} {
		var rows []struct {
			Text  string
			Label int
		}
		if err := decode(dir, half+".jsonl", &rows); err != nil {
			return err
		}
		for _, row := range rows {
			c.inspect("deepset "+half+" "+[]string{"harmless", "attacks"}[row.Label], row.Text)
		}
	}
	return nil
}

// markdown reads every page below a directory in pieces of the size of a passage.
func (c collection) markdown(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		for piece := range slices.Chunk(page, chunkBytes) {
			c.inspect("Markdown harmless", strings.ToValidUTF8(string(piece), ""))
		}
		return err
	})
}

// decode reads JSON, or a list from JSON lines. A file that does not exist leaves value as it is.
func decode(dir, name string, value any) error {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	if strings.HasSuffix(name, ".jsonl") {
		content = append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(content), []byte("\n"), []byte(","))...), ']')
	}
	if err == nil {
		err = json.Unmarshal(content, value)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}
