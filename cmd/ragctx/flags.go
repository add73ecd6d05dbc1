package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
)

// count is a flag's value: a whole number within limits. A default may be outside, such as 0 for
// "not given".
type count struct {
	value       *int
	least, most int
}

// noLimit is a count's maximum if only its minimum matters.
const noLimit = math.MaxInt

// countVar adds a flag for a count.
func countVar(flags *pflag.FlagSet, value *int, name string, preset, least, most int, help string) {
	*value = preset
	flags.Var(count{value, least, most}, name, help)
}

// String implements pflag.Value.
func (c count) String() string { return strconv.Itoa(*c.value) }

// Type implements pflag.Value.
func (c count) Type() string { return "int" }

// Set implements pflag.Value.
func (c count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err == nil && n >= c.least && n <= c.most:
		*c.value = n
		return nil
	case c.most == noLimit:
		return fmt.Errorf("use a whole number from %d", c.least)
	default:
		return fmt.Errorf("use a whole number from %d to %d", c.least, c.most)
	}
}

// choice is a flag's value: one of several words, in any letter case.
type choice struct {
	value *string
	of    []string
}

// choiceVar adds a flag for one of several words. Without the flag the value is preset, which need
// not be one of them.
func choiceVar(flags *pflag.FlagSet, value *string, name, preset string, of []string, help string) {
	*value = preset
	flags.Var(choice{value, of}, name, help)
}

// String implements pflag.Value.
func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

// Type implements pflag.Value.
func (choice) Type() string { return "string" }

// Set implements pflag.Value.
func (c choice) Set(s string) error {
	i := slices.IndexFunc(c.of, func(word string) bool { return strings.EqualFold(word, s) })
	if i < 0 {
		return errors.New("use one of " + strings.Join(c.of, ", "))
	}
	*c.value = c.of[i]
	return nil
}

// moment is a flag's value: a time, or a day, which stands for its beginning in the local time
// zone.
type moment struct{ value *time.Time }

const timeForms = "2026-05-08 or 2026-05-08T14:00:00Z"

func timeVar(flags *pflag.FlagSet, value *time.Time, name, help string) {
	flags.Var(moment{value}, name, help)
}

// String implements pflag.Value.
func (m moment) String() string {
	if m.value == nil || m.value.IsZero() {
		return ""
	}
	return m.value.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (moment) Type() string { return "time" }

// Set implements pflag.Value.
func (m moment) Set(s string) (err error) {
	if *m.value, err = time.Parse(time.RFC3339, s); err == nil {
		return nil
	}
	if *m.value, err = time.ParseInLocation(time.DateOnly, s, time.Local); err == nil { //nolint:gosmopolitan // days are those of who asks
		return nil
	}
	return errors.New("use a day or a time: " + timeForms)
}

// span is a flag's value: a duration, also in days, such as 90d.
type span struct{ value *time.Duration }

func durationVar(flags *pflag.FlagSet, value *time.Duration, name string, preset time.Duration, help string) {
	*value = preset
	flags.Var(span{value}, name, help)
}

// String implements pflag.Value.
func (s span) String() string {
	if s.value == nil || *s.value == 0 {
		return "0s"
	}
	return s.value.String()
}

// Type implements pflag.Value.
func (span) Type() string { return "duration" }

// Set implements pflag.Value.
func (s span) Set(text string) (err error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.ParseFloat(days, 64); err == nil && math.Abs(n) <= 36500 {
			*s.value = time.Duration(n * float64(24*time.Hour))
			return nil
		}
	}
	*s.value, err = time.ParseDuration(text)
	return err
}

// spellings are other names of flags. Earlier versions had them.
var spellings = map[string]string{"max-results": "limit", "lines": "limit", "count": "limit", "types": "type"}

// oneSpelling returns the name of a flag for one of its spellings.
func oneSpelling(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	return pflag.NormalizedName(cmp.Or(spellings[name], name))
}

// relevanceFlag is a minimum relevance; 0 differs from not given.
type relevanceFlag struct{ value *float64 }

// String implements [pflag.Value].
func (f *relevanceFlag) String() string {
	if f.value == nil {
		return ""
	}
	return strconv.FormatFloat(*f.value, 'g', -1, 64)
}

// Set implements [pflag.Value].
func (f *relevanceFlag) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("use a number of 0 to 1")
	}
	f.value = &v
	return nil
}

// Type implements [pflag.Value].
func (f *relevanceFlag) Type() string { return "float" }

// flagError turns an error of a flag in the arguments of the program into a usage error with a remedy. In a
// group of commands an unknown flag follows an unknown command.
func flagError(cmd *cobra.Command, args []string, err error) error {
	var bad *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	if word := firstWord(cmd, args); cmd.HasSubCommands() && word != "" && errors.As(err, &unknown) {
		return unknownCommand(cmd, word)
	}
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		return badUsage("unknown flag --%s%s", ragctx.Clip(name), didYouMean(similarFlags(cmd, name)))
	case !errors.As(err, &bad):
		return asUsage(err)
	}
	remedy := errors.Unwrap(bad).Error()
	switch bad.GetFlag().Value.Type() {
	case "bool":
		remedy = "use true or false"
	case "duration":
		remedy = "use a time such as 30s, 5m or 90d"
	case "float64":
		remedy = "use a number"
	}
	return badUsage("--%s: is %q; %s", bad.GetFlag().Name, ragctx.Clip(bad.GetValue()), remedy)
}

// firstWord returns the first argument of cmd that is neither a flag nor the value of one.
func firstWord(cmd *cobra.Command, args []string) string {
	_, rest, _ := cmd.Root().Find(args)
	for i := 0; i < len(rest); i++ {
		name, isFlag := strings.CutPrefix(rest[i], "--")
		if !isFlag && !strings.HasPrefix(rest[i], "-") {
			return rest[i]
		}
		if f := cmd.Flags().Lookup(name); f != nil && f.NoOptDefVal == "" {
			i++
		}
	}
	return ""
}

// similarFlags returns the flags of cmd whose names are similar to name, as cobra compares commands.
func similarFlags(cmd *cobra.Command, name string) (similar []string) {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	for _, n := range names.SuggestionsFor(name) {
		similar = append(similar, "--"+n)
	}
	return similar
}

// counts is a flag's value: whole numbers within limits, separated by commas.
type counts struct {
	values      *[]int
	least, most int
}

// String implements pflag.Value.
func (c counts) String() string {
	if c.values == nil {
		return ""
	}
	text := make([]string, len(*c.values))
	for i, n := range *c.values {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, ",")
}

// Type implements pflag.Value.
func (counts) Type() string { return "list" }

// Set implements pflag.Value.
func (c counts) Set(s string) error {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < c.least || n > c.most {
			return fmt.Errorf("use a whole number from %d to %d, or several with commas", c.least, c.most)
		}
		all = append(all, n)
	}
	*c.values = all
	return nil
}

// numbers is a flag's value: at most limit numbers within limits, separated by commas.
type numbers struct {
	values      *[]float64
	least, most float64
	limit       int
}

// String implements pflag.Value.
func (n numbers) String() string {
	if n.values == nil {
		return ""
	}
	text := make([]string, len(*n.values))
	for i, v := range *n.values {
		text[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(text, ",")
}

// Type implements pflag.Value.
func (numbers) Type() string { return "list" }

// Set implements pflag.Value.
func (n numbers) Set(s string) error {
	var all []float64
	for part := range strings.SplitSeq(s, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= n.least && v <= n.most) {
			return fmt.Errorf("use a number from %g to %.0f, or several with commas", n.least, n.most)
		}
		all = append(all, v)
	}
	if len(all) > n.limit {
		return fmt.Errorf("use at most %d numbers", n.limit)
	}
	*n.values = all
	return nil
}
