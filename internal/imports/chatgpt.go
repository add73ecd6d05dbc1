package imports

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// chatNode is a node of the tree of a conversation of ChatGPT.
type chatNode struct {
	Parent   string       `json:"parent"`
	Children []string     `json:"children"`
	Message  *chatMessage `json:"message"`
}

type chatMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created   float64 `json:"create_time"`
	Recipient string  `json:"recipient"`
	Content   struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// chatGPT reads a conversation of ChatGPT: the branch that the user saw last.
func chatGPT(raw json.RawMessage) (conversation, error) {
	var in struct {
		ID             string              `json:"id"`
		ConversationID string              `json:"conversation_id"`
		Title          string              `json:"title"`
		Created        float64             `json:"create_time"`
		Current        string              `json:"current_node"`
		Mapping        map[string]chatNode `json:"mapping"`
	}
	err := decode(raw, &in)
	c := conversation{id: cmp.Or(in.ConversationID, in.ID), title: in.Title, started: seconds(in.Created)}
	if err != nil {
		return c, err
	}
	if in.Mapping == nil {
		return c, ragctx.Invalid("mapping", "is missing; the file is not an export of ChatGPT")
	}
	at := in.Current
	if _, ok := in.Mapping[at]; !ok {
		at = newestLeaf(in.Mapping)
	}
	shown := 0
	for seen := map[string]bool{}; at != "" && !seen[at]; at = in.Mapping[at].Parent {
		seen[at] = true
		shown++
		if m := in.Mapping[at].Message; m != nil {
			c.add(m)
		}
	}
	slices.Reverse(c.messages)
	if len(in.Mapping) > shown {
		c.leftOut = append(c.leftOut, "other branches of a conversation")
	}
	return c, nil
}

// add adds the text of a message, if a user or an assistant wrote it for the other.
func (c *conversation) add(m *chatMessage) {
	role := ragctx.Role(m.Author.Role)
	written := role == ragctx.RoleUser || role == ragctx.RoleAssistant && (m.Recipient == "" || m.Recipient == "all")
	if !written || m.Metadata.Hidden || m.Content.Type != "text" && m.Content.Type != "multimodal_text" {
		return
	}
	var texts []string
	for _, part := range m.Content.Parts {
		var text string
		var spoken struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(part, &text) == nil:
			texts = append(texts, text)
		case json.Unmarshal(part, &spoken) == nil && spoken.Type == "audio_transcription":
			texts = append(texts, spoken.Text)
		default:
			c.leftOut = append(c.leftOut, "images and other files in messages")
		}
	}
	c.messages = append(c.messages, message{m.ID, role, strings.Join(texts, "\n"), seconds(m.Created)})
}

// newestLeaf returns the node without children that was created last.
func newestLeaf(nodes map[string]chatNode) (id string) {
	newest := -1.0
	for key, n := range nodes {
		if len(n.Children) > 0 || n.Message == nil {
			continue
		}
		if t := n.Message.Created; t > newest || t == newest && key < id {
			newest, id = t, key
		}
	}
	return id
}
