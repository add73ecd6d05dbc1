package ragctx_test

import (
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var checkPlatforms = flag.Bool("platforms", false, "check the program for all platforms of a release, 10 s of a processor each")

// platforms are those of .goreleaser.yaml.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// TestPlatforms checks the types of the program and of all that it imports for each platform of a
// release but the one it runs on. That finds what a compiler would reject in a tenth of its time; "goreleaser build --snapshot"
// compiles and links.
func TestPlatforms(t *testing.T) {
	if !*checkPlatforms {
		t.Skip("only with -platforms")
	}
	for _, platform := range platforms {
		if platform == runtime.GOOS+"/"+runtime.GOARCH {
			continue // which every build compiles
		}
		t.Run(platform, func(t *testing.T) {
			system, processor, _ := strings.Cut(platform, "/")
			loaded, err := packages.Load(&packages.Config{
				Context: t.Context(),
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes,
				Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
			}, "./cmd/ragctx")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			packages.Visit(loaded, nil, func(p *packages.Package) {
				n++
				for _, err := range p.Errors {
					t.Errorf("%s: %v", p.PkgPath, err)
				}
			})
			if n < 100 {
				t.Errorf("only %d packages", n)
			}
		})
	}
}
