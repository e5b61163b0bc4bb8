package client

import (
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
)

// PageSize is the page size of lists.
const PageSize = 200

// ListOptions are the flags of commands that list.
type ListOptions struct {
	Limit int
	JSON  bool
}

// Add adds the flags.
func (o *ListOptions) Add(flags *pflag.FlagSet) {
	flags.IntVar(&o.Limit, "limit", 50, "show at most so many; 0: all")
	flags.BoolVar(&o.JSON, "json", false, "print a line of JSON for each")
}

// SearchOptions are the flags of lists that can be narrowed by a text and ordered.
type SearchOptions struct{ Query, OrderBy string }

// Add adds the flags. fields says what --query looks into.
func (o *SearchOptions) Add(flags *pflag.FlagSet, fields string) {
	flags.StringVar(&o.Query, "query", "", "only those whose "+fields+" contains this, in any case")
	flags.StringVar(&o.OrderBy, "order-by", "", `created_at, updated_at or name, each also as "name desc"; default: newest first`)
}

// Listing says what a command lists and how.
type Listing[T proto.Message] struct {
	// Pages returns the pages of the list.
	Pages command.PageFunc[T]
	// Columns and Row describe the table.
	Columns []term.Column
	Row     func(T) []term.Cell
	// Empty is printed when there is nothing.
	Empty string
}

// List prints a list as a table or as lines of JSON.
func List[T proto.Message](c *Caller, o ListOptions, l Listing[T]) error {
	if o.Limit < 0 {
		return command.Usagef("--limit cannot be negative")
	}
	var rows [][]term.Cell
	count, more, err := command.Each(o.Limit, l.Pages, func(item T) error {
		if o.JSON {
			return c.PrintMessage(item)
		}
		rows = append(rows, l.Row(item))
		return nil
	})
	switch {
	case err != nil || o.JSON:
		return err
	case count == 0:
		c.Line("%s", l.Empty)
	default:
		c.Screen.Draw(c.Screen.Table(l.Columns, rows), nil)
	}
	if more {
		c.SayMore(o.Limit)
	}
	return nil
}

// Fact prints a line with a name and a value, unless the value is empty.
func (c *Caller) Fact(name, value string) {
	if value != "" {
		c.Screen.Line("  %s %s", c.Screen.Dim(term.Pad(name, 20)), term.Clean(value))
	}
}
