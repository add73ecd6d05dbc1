package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/webhook"
)

// webhooksSetting is the setting with the URLs that events are sent to.
const webhooksSetting = "webhooks"

// maxWebhooks bounds the webhooks: each follows the events by itself.
const maxWebhooks = 16

// webhooksFile has the positions of the webhooks in the data directory.
const webhooksFile = "webhooks.json"

// webhookSetting is a webhook in the settings.
type webhookSetting struct {
	Name         string             `json:"name"`
	URL          string             `json:"url"`
	Types        []ragctx.EventType `json:"types"`
	Namespace    string             `json:"namespace"`
	Timeout      duration           `json:"timeout"`
	AllowPrivate bool               `json:"allow_private"`
	secretSource
}

// readWebhooks reads the setting.
func (s *settings) readWebhooks() ([]webhookSetting, error) {
	return readPrograms[webhookSetting](s, webhooksSetting, "webhook", maxWebhooks,
		`[{"name": "audit", "url": "https://example.com/events", "types": ["memory_stored"]}]`)
}

// startWebhooks begins to send the events of an engine.
func (s *settings) startWebhooks(ctx context.Context, eng *engine.Engine) (*webhook.Sender, error) {
	list, err := s.readWebhooks()
	if err != nil {
		return nil, err
	}
	var hooks []webhook.Options
	for i, set := range list {
		secret, err := set.secret(s.env)
		if err == nil && slices.ContainsFunc(hooks, func(o webhook.Options) bool { return o.Name == set.Name }) {
			err = ragctx.Invalid("name", "%q is taken; give each webhook a name of its own", ragctx.Clip(set.Name))
		}
		if err != nil {
			return nil, badUsage("%s: webhook %d: %v", s.where(webhooksSetting), i+1, err)
		}
		hooks = append(hooks, webhook.Options{
			Name: set.Name, URL: set.URL, Secret: secret, Timeout: time.Duration(set.Timeout), AllowPrivate: set.AllowPrivate,
			Filter: events.Filter{Namespace: set.Namespace, Types: set.Types},
		})
	}
	// An interrupt ends the server first, and then its Sender, which sends the last events.
	sender, err := webhook.Start(context.WithoutCancel(ctx), eng.Events(), filepath.Join(s.Data, webhooksFile), eng.Logger(), hooks)
	if err != nil {
		return nil, badUsage("%s: %v", s.where(webhooksSetting), err)
	}
	return sender, nil
}

// greetWebhooks prints which events go to which URL.
func (s *settings) greetWebhooks(w io.Writer) {
	list, _ := s.readWebhooks() // a mistake is an error of startWebhooks
	for _, h := range list {
		fmt.Fprintf(w, "webhook %s: %s; it is sent the events, which may quote memories\n", printable(h.Name), origin(h.URL))
	}
}
