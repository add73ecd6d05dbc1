package ragctx_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestConnectionsGoThroughHTTPClient checks that all connections of this module are made by
// httpclient.Dial, which enforces --offline. It reads the sources, so that it also covers code
// without tests.
func TestConnectionsGoThroughHTTPClient(t *testing.T) {
	files := 0
	err := eachSource(os.DirFS("."), func(name string, src []byte) error {
		if path.Dir(name) == "internal/httpclient" {
			return nil
		}
		files++
		found, err := connecting(name, src)
		for _, f := range found {
			t.Error(f)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// TestConnectingIsSeen checks that the test above finds violations.
func TestConnectingIsSeen(t *testing.T) {
	for code, bad := range map[string]bool{
		`net.Dial("tcp", a)`:                                    true,
		`net.LookupHost(a)`:                                     true,
		`net.ResolveTCPAddr("tcp", a)`:                          true,
		`http.Get(a)`:                                           true,
		`http.DefaultClient.Do(r)`:                              true,
		`http.Client{}.Do(r)`:                                   true,
		`new(http.Client).Do(r)`:                                true,
		`use(&http.Client{})`:                                   true,
		`use(&http.Transport{})`:                                true,
		`var c http.Client; use(c)`:                             true,
		`d.DialContext(ctx, n, a)`:                              true,
		`tls.Dial("tcp", a, nil)`:                               true,
		`use(&mcp.StreamableClientTransport{})`:                 true,
		`use(&http.Client{Transport: tr})`:                      false,
		`use(&http.Transport{DialContext: httpclient.Dial(d)})`: false,
		`httpclient.Dial(d)(ctx, n, a)`:                         false,
		`use(&http.Transport{DialContext: d.DialContext})`:      true,
		`net.SplitHostPort(a)`:                                  false,
		`func(c *http.Client) {}(nil)`:                          false,
		`http.ListenAndServe(a, nil)`:                           false,
		`use(http.Header{})`:                                    false,
		`other.Get(a)`:                                          false,
		`use(&http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: x})`: true,
	} {
		src := `package p
import ("net"; "net/http"; "crypto/tls"; "github.com/modelcontextprotocol/go-sdk/mcp"; "github.com/ragctx/ragctx/internal/httpclient"; other "example.com/http")
func f() { ` + code + ` }`
		found, err := connecting("p.go", []byte(src))
		if err != nil || (len(found) > 0) != bad {
			t.Errorf("%s: %v, %v", code, found, err)
		}
	}
}

// connects lists the names that connect or look up addresses, by package. A star marks a prefix.
var connects = map[string][]string{
	"net":        {"Dial*", "Lookup*", "ResolveTCPAddr", "ResolveUDPAddr", "ResolveIPAddr", "DefaultResolver"},
	"net/http":   {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "ProxyFromEnvironment", "ProxyURL"},
	"crypto/tls": {"Dial*"},
	"syscall":    {"Connect"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"StreamableClientTransport", "SSEClientTransport"},
}

// dials are the names of methods that connect.
var dials = []string{"Dial", "DialContext", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "DialTLS", "DialTLSContext"}

// unwelcome lists packages that make their own connections.
var unwelcome = []string{"net/smtp", "net/rpc", "net/rpc/jsonrpc", "log/syslog", "golang.org/x/net/proxy", "golang.org/x/net/websocket"}

// connecting lists the connections that a source file makes.
func connecting(name string, src []byte) (found []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imports := make(map[string]string) // path by the name in this file
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if slices.Contains(unwelcome, imported) {
			found = append(found, fmt.Sprintf("%s: imports %s", name, imported))
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = imported
	}
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if s, ok := n.(*ast.SelectorExpr); ok && connectsBy(imports, s, above) {
			found = append(found, fmt.Sprintf("%s: %s connects; use httpclient.Dial", set.Position(n.Pos()), s.Sel.Name))
		}
		above = append(above, n)
		return true
	})
	return found, nil
}

// connectsBy reports whether a selector connects by other means than package httpclient.
func connectsBy(imports map[string]string, s *ast.SelectorExpr, above []ast.Node) bool {
	of := ""
	if id, ok := s.X.(*ast.Ident); ok {
		of = imports[id.Name]
	}
	parent := above[len(above)-1]
	switch {
	case of == "net" && s.Sel.Name == "Dialer":
		return false // calls of its methods are checked instead
	case of == "net/http" && s.Sel.Name == "Client":
		return !given(parent, "Transport")
	case of == "net/http" && s.Sel.Name == "Transport":
		return !given(parent, "DialContext")
	case of == "": // a method of a value
		return slices.Contains(dials, s.Sel.Name)
	}
	return slices.ContainsFunc(connects[of], func(name string) bool {
		prefix, open := strings.CutSuffix(name, "*")
		return s.Sel.Name == name || open && strings.HasPrefix(s.Sel.Name, prefix)
	})
}

// given reports whether a type occurs in a pointer type, or in a literal that sets field.
func given(parent ast.Node, field string) bool {
	switch p := parent.(type) {
	case *ast.StarExpr:
		return true
	case *ast.CompositeLit:
		return slices.ContainsFunc(p.Elts, func(e ast.Expr) bool {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return false
			}
			key, ok := kv.Key.(*ast.Ident)
			return ok && key.Name == field
		})
	}
	return false
}

// eachSource calls fn for each source file of this module except tests.
func eachSource(root fs.FS, fn func(name string, src []byte) error) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			_, other := fs.Stat(root, path.Join(name, "go.mod"))
			if other == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "tools" {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return fn(name, src)
	})
}
