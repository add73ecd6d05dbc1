package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
)

const apiHelp = `Api sends a request to the REST API and prints the answer. Use it for requests without a
command, such as branches, labels and sections of sessions, their providers, and the audit
log. If no server has the data directory open, the command answers the request itself.

PATH is the path of a route, such as /v1/sessions. 'ragctx openapi' prints all routes with
their parameters. The body of --body is the text itself, @FILE for a file, or - for standard
input. It is JSON unless --type names another media type.

--namespace is sent as the parameter namespace. The namespace of the settings is not sent.

Without a server, a job of the request waits for 'ragctx jobs watch' or the next 'ragctx
serve', unless the request has the parameter wait.

If the answer is an error, its message goes to standard error and the exit status is 1.`

const apiExample = `  ragctx api GET /v1/audit -q limit=20
  ragctx api GET /v1/sessions/s-42/messages -q user_id=ada
  ragctx api POST /v1/sessions/s-42:fork -d '{"to": "s-43"}'
  ragctx api POST /v1/documents:bulk --type application/x-ndjson -d @documents.ndjson`

// apiFlags are the flags of the command.
type apiFlags struct {
	body, media string
	params      []string
}

func newAPI(env lookupEnv) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:     "api METHOD PATH",
		Short:   "Send a request to the REST API",
		Long:    apiHelp,
		Example: apiExample,
		Args:    exactly(2, "METHOD and PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(args[0], args[1])
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				if s.origin["namespace"] == fromFlag && !r.query.Has("namespace") {
					r.query.Set("namespace", s.Namespace)
				}
				if r.query.Has("wait") { // without a server nothing else runs the job
					c.startJobs()
				}
				return r.send(ctx, c, cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVarP(&f.body, "body", "d", "", "body of the request; @FILE reads a file, - standard input")
	flags.StringVar(&f.media, "type", "application/json", "media type of the body")
	flags.StringArrayVarP(&f.params, "query", "q", nil, "NAME=VALUE of a parameter of the query; may be repeated")
	return cmd
}

// apiRequest is a request to the REST API.
type apiRequest struct {
	method, path string
	query        url.Values
	body, media  string
}

// request returns the request that the flags and arguments describe.
func (f apiFlags) request(method, path string) (apiRequest, error) {
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, "/") || u.Host != "" {
		return apiRequest{}, badUsage("PATH is %q; use a path of the API, such as /v1/status", ragctx.Clip(path))
	}
	r := apiRequest{method: strings.ToUpper(method), path: u.EscapedPath(), query: u.Query(), body: f.body, media: f.media}
	for _, p := range f.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return r, badUsage("--query: is %q; use NAME=VALUE", ragctx.Clip(p))
		}
		r.query.Add(name, value)
	}
	return r, nil
}

// send sends the request and prints the answer, JSON with indents.
func (r apiRequest) send(ctx context.Context, c *client, stdin io.Reader, stdout io.Writer) error {
	body, err := r.open(stdin)
	if err != nil {
		return err
	}
	var in io.Reader
	media := ""
	if body != nil {
		defer body.Close()
		in, media = body, r.media
	}
	resp, err := c.Call(ctx, r.method, r.path, r.query, in, media)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "application/json" {
		_, err := io.Copy(stdout, resp.Body)
		return err
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(b), "", "  "); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	_, err = fmt.Fprintln(stdout, out.String())
	return err
}

// open returns the body of the request, or nil if it has none.
func (r apiRequest) open(stdin io.Reader) (io.ReadCloser, error) {
	file, isFile := strings.CutPrefix(r.body, "@")
	switch {
	case r.body == "-" || isFile && file == "-":
		return io.NopCloser(stdin), nil
	case isFile:
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("--body: %w", err)
		}
		return f, nil
	case r.body == "":
		return nil, nil //nolint:nilnil // as said
	}
	return io.NopCloser(strings.NewReader(r.body)), nil
}
