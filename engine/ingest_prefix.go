package engine

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/internal/store"
)

// prefixField is the [Skipped].Field of a document whose id belongs to another source.
const prefixField = "prefix"

// sourceOpener opens the sources of one ingest. Unless the options set a prefix, the ids of a path
// begin with its folder's name, preceded by as many names of parent folders as tell it from other
// paths of the namespace: "docs/", or "app/docs/" if another folder named docs was ingested before.
// A path inside a folder that has its documents already is opened as a part of that folder, and the
// first ingest of a folder takes over the documents of folders inside it.
type sourceOpener struct {
	list ListDocuments
	opts IngestOptions
	by   map[string]string // the sources of this ingest by their prefix
}

func newSourceOpener(list ListDocuments, o IngestOptions) sourceOpener {
	return sourceOpener{list, o, make(map[string]string)}
}

// open opens the source at a path of the options.
func (o sourceOpener) open(ctx context.Context, path string) (Source, error) {
	source, err := o.opts.open(path)
	local, ok := source.(*localSource)
	if err != nil || !ok || o.opts.Prefix != "" {
		return source, err
	}
	local.prefix, err = o.choose(ctx, local)
	o.by[local.Prefix()] = local.root
	return local, err
}

// choose returns the prefix that the source's documents have, or else the shortest one that no other
// source uses. It sets the root of a part of another source.
func (o sourceOpener) choose(ctx context.Context, s *localSource) (string, error) {
	candidates := s.prefixes()
	for _, p := range candidates {
		s.prefix = p
		found, err := o.documents(ctx, s.Prefix(), s.path, 1)
		if err != nil || len(found) > 0 {
			return p, err
		}
	}
	if whole, p, err := o.enclosing(ctx, s); err != nil || whole != "" {
		s.root = whole
		return p, err
	}
	for _, p := range candidates {
		s.prefix = p
		if taken, err := o.taken(ctx, s); err != nil || !taken {
			return p, err
		}
	}
	return candidates[0], nil // each document reports the conflict
}

// enclosing returns the innermost folder whose source has documents of the path of s, read with the
// same options, and the prefix of their ids; "" if there is none. A second source for the same files
// would store copies of which one becomes stale. Folders with a prefix of the caller are not found.
func (o sourceOpener) enclosing(ctx context.Context, s *localSource) (root, prefix string, err error) {
	for dir, parent := s.path, filepath.Dir(s.path); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if found, err := o.documents(ctx, "", parent, 1); err != nil {
			return "", "", err
		} else if len(found) == 0 {
			continue
		}
		whole := localSource{path: parent, folder: true, prefix: filepath.Base(parent) + "/"}
		for _, p := range whole.prefixes() {
			part := localSource{path: s.path, folder: s.folder, prefix: p + partPrefix(parent, s)}
			found, err := o.documents(ctx, part.Prefix(), parent, 1)
			if err != nil {
				return "", "", err
			}
			if len(found) > 0 && found[0].Root == parent && part.has(found[0].ID) && s.readsLike(found[0].Stat) {
				return parent, part.prefix, nil
			}
		}
	}
	return "", "", nil
}

// partPrefix returns the part of the ids between the prefix of a folder and the prefix of a source in it.
func partPrefix(folder string, s *localSource) string {
	rel, err := filepath.Rel(folder, s.path)
	if err == nil && !s.folder {
		rel = filepath.Dir(rel)
	}
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// has reports whether the source has the document with an id that begins with its prefix.
func (r *localSource) has(id string) bool {
	return r.folder || id == r.Prefix() || strings.HasPrefix(id, r.Prefix()+"/")
}

// readsLike reports whether a document with a file state was read with the options of the source. Without
// a state, this is assumed of options that add nothing to documents.
func (r *localSource) readsLike(stat string) bool {
	if stat == "" {
		return len(r.opts.Tags)+len(r.opts.Metadata) == 0
	}
	return strings.HasPrefix(stat, r.readingHash+" ")
}

// inner returns the documents of folders inside a source that the documents with the given ids of the
// source replace: those of the same files, in a recorded state that was read with the same options. Folders
// with a prefix of the caller keep their documents.
func (o sourceOpener) inner(ctx context.Context, source Source, ids []string) (existingDocuments, error) {
	s, ok := source.(*localSource)
	if !ok || !s.folder || o.opts.Prefix != "" {
		return nil, nil
	}
	stored, folders := make(map[string]bool), make(map[string]bool)
	for _, id := range ids {
		stored[id] = true
		for at := path.Dir(strings.TrimPrefix(id, s.prefix)); at != "."; at = path.Dir(at) {
			folders[at] = true
		}
	}
	var out existingDocuments
	for _, at := range slices.Sorted(maps.Keys(folders)) {
		part := localSource{path: filepath.Join(s.path, filepath.FromSlash(at)), folder: true, prefix: path.Base(at) + "/"}
		found, err := listExisting(ctx, o.list, o.opts.Namespace, "", part.path)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			same := func(p string) bool {
				rel, ok := strings.CutPrefix(d.id, p)
				return ok && stored[s.prefix+at+"/"+rel]
			}
			if d.root == part.path && d.stat != "" && s.readsLike(d.stat) && slices.ContainsFunc(part.prefixes(), same) {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// taken reports whether another source uses the prefix of a source.
func (o sourceOpener) taken(ctx context.Context, s *localSource) (bool, error) {
	if by, ok := o.by[s.Prefix()]; ok && by != s.path {
		return true, nil
	}
	found, err := o.documents(ctx, s.Prefix(), "", MaxPage)
	for _, d := range found {
		if s.has(d.ID) && d.Root != "" && d.Root != s.path && !rootGone(d.Root) {
			return true, nil
		}
	}
	return false, err
}

func (o sourceOpener) documents(ctx context.Context, prefix, root string, n int) ([]store.Document, error) {
	found, err := o.list(ctx, o.opts.Namespace, store.ListOptions{Prefix: prefix, Root: root, Limit: n})
	if err != nil {
		return nil, fmt.Errorf("list existing documents: %w", err)
	}
	return found, nil
}

// prefixes returns the possible prefixes of a source's ids, the shortest first.
func (r *localSource) prefixes() []string {
	at := strings.Split(strings.Trim(filepath.ToSlash(strings.TrimPrefix(r.path, filepath.VolumeName(r.path))), "/"), "/")
	next := len(at) - 2
	if !r.folder { // its own name is not part of the prefix
		at = at[:len(at)-1]
	}
	out := []string{r.prefix}
	for i := next; i >= 0; i-- {
		out = append(out, strings.Join(at[i:], "/")+"/")
	}
	return out
}

// rootGone reports whether a source was a path of this machine that no longer exists.
func rootGone(root string) bool { return filepath.IsAbs(root) && notExist(root) }

// Sources returns patterns of the sources of all documents that the paths of an ingest have; see
// [ragctx.Filter]. It returns nil if one of the paths is not of this machine.
func Sources(ctx context.Context, list ListDocuments, o IngestOptions) ([]string, error) {
	var out []string
	opener := newSourceOpener(list, o)
	for _, path := range o.Paths {
		source, err := opener.open(ctx, path)
		if err != nil {
			return nil, err
		}
		local, ok := source.(*localSource)
		switch {
		case !ok:
			return nil, nil
		case local.folder:
			out = append(out, "file:"+local.Prefix()+"*")
		default:
			out = append(out, "file:"+local.Prefix(), "file:"+local.Prefix()+"/*")
		}
	}
	return out, nil
}
