package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// slackExport is what the lists of an export say about names.
type slackExport struct {
	users    map[string]string // name by id
	channels map[string]string // topic or purpose by the name of the folder
	public   map[string]bool   // folders of the channels in channels.json
}

// slack reads an export of Slack: a document for each day of a public channel. Direct messages and private channels are
// left out, because documents are shared in a namespace.
func slack(ctx context.Context, source string, emit func(Item) error) error {
	return each(source, emit, func(files []file) error {
		if !slices.ContainsFunc(files, func(f file) bool { return f.base() == "channels.json" }) {
			return fmt.Errorf("%s has no channels.json; give the export as JSON, as it was downloaded", source)
		}
		x := slackExport{users: map[string]string{}, channels: map[string]string{}, public: map[string]bool{}}
		for _, f := range files {
			if err := x.lists(f); err != nil {
				if err := emit(Item{Name: f.name, Err: err}); err != nil {
					return err
				}
			}
		}
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			channel, day := path.Base(path.Dir(f.name)), strings.TrimSuffix(f.base(), ".json")
			item := Item{Name: f.name}
			switch at, err := time.Parse(time.DateOnly, day); {
			case x.isList(f):
				continue
			case err != nil || channel == ".":
				item.LeftOut = "files that are no messages of a channel"
			case !x.public[channel]:
				item.LeftOut = "direct messages, private channels, and folders that channels.json does not name"
			default:
				if err := x.day(f, channel, at, emit); err != nil {
					return err
				}
				continue
			}
			if err := emit(item); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *slackExport) isList(f file) bool {
	return slices.Contains([]string{"users.json", "org_users.json", "channels.json", "groups.json", "dms.json", "mpims.json"}, f.base())
}

// lists reads a list of users or channels.
func (x *slackExport) lists(f file) error {
	if !x.isList(f) {
		return nil
	}
	return elements(f, func(_ int, raw json.RawMessage) error {
		var in struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			RealName string `json:"real_name"`
			Profile  struct {
				Display string `json:"display_name"`
				Real    string `json:"real_name"`
			} `json:"profile"`
			Purpose struct {
				Value string `json:"value"`
			} `json:"purpose"`
		}
		if err := decode(raw, &in); err != nil {
			return nil //nolint:nilerr // a user without a readable name is shown by the id
		}
		switch f.base() {
		case "users.json", "org_users.json":
			x.users[in.ID] = cmp.Or(in.Profile.Display, in.Profile.Real, in.RealName, in.Name, in.ID)
		case "channels.json":
			x.channels[in.Name], x.public[in.Name] = in.Purpose.Value, true
		}
		return nil
	})
}

// slackMessage is a message of a day's file.
type slackMessage struct {
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	Thread   string `json:"thread_ts"`
	Files    []struct {
		Name string `json:"name"`
	} `json:"files"`
}

// day emits the messages of a channel on one day as a document. Replies follow the message that they answer.
func (x *slackExport) day(f file, channel string, at time.Time, emit func(Item) error) error {
	var all []slackMessage
	var others []Item
	n := 0
	if err := elements(f, func(n int, raw json.RawMessage) error {
		var m slackMessage
		switch err := decode(raw, &m); {
		case err != nil:
			others = append(others, Item{Name: fmt.Sprintf("%s: message %d", f.name, n), Err: err})
		case isNotice(m):
			others = append(others, Item{Name: f.name, LeftOut: "notices such as joining a channel"})
		default:
			all = append(all, m)
		}
		return nil
	}); err != nil {
		others = append(others, Item{Name: f.name, Err: err})
	}
	for _, item := range others {
		if err := emit(item); err != nil {
			return err
		}
	}
	thread := func(m slackMessage) string { return cmp.Or(m.Thread, m.TS) }
	slices.SortStableFunc(all, func(a, b slackMessage) int { return cmp.Or(cmp.Compare(thread(a), thread(b)), cmp.Compare(a.TS, b.TS)) })
	var b strings.Builder
	date := at.Format(time.DateOnly)
	fmt.Fprintf(&b, "# #%s, %s\n", channel, date)
	if purpose := x.channels[channel]; purpose != "" {
		fmt.Fprintf(&b, "\n%s\n", x.text(purpose))
	}
	for _, m := range all {
		text := x.text(m.Text)
		for _, file := range m.Files {
			text += fmt.Sprintf("\n(file: %s)", file.Name)
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n++
		reply := ""
		if m.Thread != "" && m.Thread != m.TS {
			reply = "↳ "
		}
		s, _ := strconv.ParseFloat(m.TS, 64)
		name := cmp.Or(x.users[m.User], m.Username, m.User, "unknown")
		fmt.Fprintf(&b, "\n%s**%s** (%s): %s\n", reply, name, seconds(s).Format("15:04"), text)
	}
	if n == 0 {
		return nil
	}
	return emit(Item{Name: f.name, Document: &ragctx.Document{
		ExternalID: fmt.Sprintf("slack/%s/%s", channel, date), Title: fmt.Sprintf("#%s, %s", channel, date),
		Text: b.String(), MIME: "text/markdown", Tags: []string{"slack"}, Metadata: map[string]any{"channel": channel}, Occurred: at,
	}})
}

// isNotice reports whether Slack itself wrote a message.
func isNotice(m slackMessage) bool {
	switch m.Subtype {
	case "", "bot_message", "thread_broadcast", "me_message", "file_share", "file_comment", "reply_broadcast":
		return false
	default:
		return true
	}
}

var slackReference = regexp.MustCompile(`<([^<>|]+)(?:\|([^<>]*))?>`)

// text converts references such as <@U024BE7LH> and <https://example.com|label> to plain text.
func (x *slackExport) text(s string) string {
	s = slackReference.ReplaceAllStringFunc(s, func(ref string) string {
		m := slackReference.FindStringSubmatch(ref)
		target, label := m[1], m[2]
		switch {
		case strings.HasPrefix(target, "@"):
			return "@" + cmp.Or(x.users[target[1:]], label, target[1:])
		case strings.HasPrefix(target, "#"):
			return "#" + cmp.Or(label, target[1:])
		case strings.HasPrefix(target, "!"):
			return "@" + cmp.Or(strings.TrimPrefix(label, "@"), target[1:])
		case label != "" && label != target:
			return label + " (" + target + ")"
		default:
			return target
		}
	})
	return html.UnescapeString(s)
}
