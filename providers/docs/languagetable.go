package docs

import "slices"

// The beginnings of comments.
var (
	slashes  = []string{"//", "/*", "*"}
	hashes   = []string{"#"}
	dashes   = []string{"--", "/*", "*"}
	percents = []string{"%"}
	noted    = append([]string{"@"}, slashes...) // with annotations
	cBlocks  = [][2]string{{"/*", "*/"}}
	quoted   = [][2]string{{`"""`, `"""`}}
)

// objects are the keywords of languages with classes; access are their modifiers.
var (
	objects = []string{"class", "interface", "enum", "record", "struct", "namespace", "@interface", "trait"}
	access  = []string{
		"public", "protected", "private", "static", "final", "abstract", "sealed", "internal", "partial", "override",
		"virtual", "async", "synchronized",
	}
)

// The languages; see codeFormats.
var (
	golang = language{keywords: []string{"func", "type", "const", "var"}, comments: slashes, blocks: cBlocks}
	python = language{
		keywords: []string{"def", "class"}, modifiers: []string{"async"},
		comments: []string{"#", "@"}, docstring: `"""`,
	}
	script = language{
		keywords:  []string{"function", "class", "interface", "type", "enum", "const", "let", "var", "namespace"},
		modifiers: []string{"export", "default", "async", "declare", "abstract"}, comments: noted, blocks: cBlocks,
	}
	rust = language{
		keywords:  []string{"fn", "struct", "enum", "trait", "impl", "mod", "type", "macro_rules!", "union"},
		modifiers: []string{"pub", "pub(crate)", "pub(super)", "async", "unsafe", "const", "default", "extern"},
		comments:  append([]string{"#["}, slashes...), blocks: cBlocks,
	}
	java  = language{keywords: objects, modifiers: access, comments: append([]string{"["}, noted...), blocks: cBlocks, calls: true}
	clang = language{
		keywords:  []string{"struct", "class", "enum", "union", "namespace", "typedef", "template"},
		modifiers: []string{"static", "extern", "inline", "constexpr"}, comments: slashes, blocks: cBlocks, calls: true,
	}
	objectiveC = language{
		keywords: []string{"@interface", "@implementation", "@protocol", "typedef", "struct", "enum"},
		prefixes: []string{"- (", "+ (", "-(", "+("}, comments: slashes, blocks: cBlocks, calls: true,
	}
	ruby = language{keywords: []string{"def", "class", "module"}, comments: hashes, blocks: [][2]string{{"=begin", "=end"}}}
	php  = language{
		keywords:  []string{"function", "class", "interface", "trait", "enum", "namespace"},
		modifiers: access, comments: append([]string{"#"}, slashes...), blocks: cBlocks,
	}
	shell = language{keywords: []string{"function"}, comments: hashes, calls: true}
	power = language{
		keywords: []string{"function", "class", "filter", "enum", "Function"}, comments: []string{"#", "["},
		blocks: [][2]string{{"<#", "#>"}},
	}
	sql   = language{keywords: []string{"create", "CREATE", "alter", "ALTER"}, comments: dashes, blocks: cBlocks}
	proto = language{
		keywords: []string{"message", "service", "enum", "rpc", "struct", "exception", "union"},
		comments: slashes, blocks: cBlocks,
	}
	config  = language{comments: hashes}
	graphQL = language{
		keywords: []string{
			"type", "interface", "enum", "input", "union", "scalar", "query", "mutation",
			"subscription", "fragment", "directive", "schema",
		},
		modifiers: []string{"extend"}, comments: hashes, blocks: quoted,
	}
	kotlin = language{
		keywords: []string{"fun", "class", "interface", "object", "typealias", "val", "var", "constructor"},
		modifiers: append([]string{
			"open", "data", "enum", "inline", "value", "annotation", "companion", "suspend", "operator", "infix",
			"tailrec", "lateinit", "const",
			"external", "expect", "actual", "inner",
		}, access...), comments: noted, blocks: cBlocks,
	}
	swift = language{
		keywords: []string{
			"func", "class", "struct", "enum", "protocol", "extension", "actor", "typealias", "init",
			"deinit", "subscript", "let", "var", "macro",
		},
		modifiers: append([]string{
			"open", "fileprivate", "mutating", "required", "convenience", "indirect",
			"nonisolated", "lazy", "weak",
		}, access...),
		comments: append([]string{"#"}, noted...), blocks: cBlocks,
	}
	scala = language{
		keywords:  []string{"def", "class", "object", "trait", "enum", "type", "given", "extension", "package", "val", "var"},
		modifiers: append([]string{"case", "implicit", "lazy", "inline", "opaque", "open", "transparent"}, access...),
		comments:  noted, blocks: cBlocks,
	}
	groovy = language{
		keywords: append([]string{"def", "task", "pipeline"}, objects...), modifiers: access, comments: noted,
		blocks: cBlocks, calls: true, opens: true,
	}
	dart = language{
		keywords:  []string{"class", "mixin", "enum", "extension", "typedef"},
		modifiers: append([]string{"base", "const", "late", "factory", "external"}, access...), comments: noted,
		blocks: cBlocks, calls: true,
	}
	lua = language{
		keywords: []string{"function"}, modifiers: []string{"local"}, infixes: []string{"= function("},
		comments: dashes, blocks: [][2]string{{"--[[", "]]"}},
	}
	perl = language{
		keywords: []string{"sub", "package"}, comments: hashes,
		blocks: [][2]string{{"=pod", "=cut"}, {"=head", "=cut"}, {"=item", "=cut"}},
	}
	rlang = language{infixes: []string{"<- function(", "= function(", "<- R6Class("}, comments: hashes}
	julia = language{
		keywords:  []string{"function", "struct", "abstract", "macro", "module", "const"},
		modifiers: []string{"mutable"}, comments: append([]string{"@"}, hashes...), blocks: quoted,
	}
	elixir = language{
		keywords: []string{"def", "defp", "defmodule", "defmacro", "defmacrop", "defprotocol", "defimpl", "defstruct", "test", "describe"},
		comments: []string{"#", "@"}, blocks: [][2]string{{`@doc """`, `"""`}, {`@moduledoc """`, `"""`}, {`@doc ~S"""`, `"""`}},
	}
	erlang = language{
		prefixes: []string{"-record(", "-module("}, infixes: []string{") ->", ") when "},
		comments: []string{"%", "-spec", "-doc"},
	}
	haskell = language{
		keywords: []string{"data", "newtype", "class", "instance", "type", "module"}, infixes: []string{" :: "}, comments: []string{"--"},
		blocks: [][2]string{{"{-", "-}"}},
	}
	ml = language{
		keywords: []string{"let", "type", "module", "exception", "val", "and"}, modifiers: []string{"rec"},
		comments: append([]string{"(*", "[<"}, slashes...),
		blocks:   [][2]string{{"(*", "*)"}},
	}
	lisp = language{
		prefixes: []string{"(def", "(ns ", "(define", "(module", "(class"}, comments: []string{";", "^"}, blocks: [][2]string{{"#|", "|#"}},
	}
	zig = language{
		keywords:  []string{"fn", "const", "var", "test", "comptime"},
		modifiers: []string{"pub", "export", "inline", "extern"}, comments: slashes,
	}
	nim   = language{keywords: []string{"proc", "func", "method", "iterator", "template", "macro", "type", "const"}, comments: hashes}
	basic = language{
		keywords: []string{"Sub", "Function", "Class", "Module", "Structure", "Enum", "Property", "Interface"},
		modifiers: []string{
			"Public", "Private", "Friend", "Protected", "Shared", "Overrides", "Overridable",
			"Async",
		}, comments: []string{"'", "<"},
	}
	fortran = language{
		keywords:  []string{"subroutine", "function", "module", "program", "SUBROUTINE", "FUNCTION", "MODULE", "PROGRAM"},
		modifiers: []string{"pure", "elemental", "recursive"}, comments: []string{"!", "C ", "c "},
	}
	solidity = language{
		keywords:  []string{"contract", "library", "interface", "function", "struct", "enum", "event", "modifier", "constructor", "error"},
		modifiers: []string{"abstract"}, comments: slashes, blocks: cBlocks,
	}
	hcl = language{
		keywords: []string{"resource", "data", "variable", "output", "module", "provider", "locals", "terraform", "job", "group", "task"},
		comments: append([]string{"#"}, slashes...), blocks: cBlocks,
	}
	docker = language{keywords: []string{"FROM", "from"}, comments: hashes}
	makes  = language{keywords: []string{"define", "ifdef", "ifeq"}, labels: true, comments: hashes}
	cmake  = language{
		keywords: []string{
			"function", "macro", "add_executable", "add_library", "add_custom_target",
			"add_custom_command", "project", "install",
		},
		comments: hashes, blocks: [][2]string{{"#[[", "]]"}},
	}
	css    = language{opens: true, comments: slashes, blocks: cBlocks}
	xml    = language{markup: true, comments: []string{"<!--"}, blocks: [][2]string{{"<!--", "-->"}}}
	bibtex = language{prefixes: []string{"@"}, comments: percents}
)

// codeFormats lists the formats of source code and configuration.
func codeFormats() []format {
	code := func(mime string, lang *language, exts ...string) format {
		return format{mime: mime, extensions: exts, parse: parseSource, lang: lang}
	}
	also := func(f format, mimes ...string) format { f.aliases = mimes; return f }
	named := func(f format, names ...string) format { f.names = names; return f }
	runs := func(f format, interpreters ...string) format { f.interpreters = interpreters; return f }
	return slices.Concat([]format{
		{mime: "text/x-go", extensions: []string{"go"}, parse: parseGo, lang: &golang},
		runs(named(code("text/x-python", &python, "py", "pyi", "bzl", "pyx"), "BUILD", "BUILD.bazel", "WORKSPACE",
			"SConstruct"), "python", "pypy"),
		runs(also(code("text/javascript", &script, "js", "jsx", "mjs", "cjs"), "application/javascript", "text/jsx"), "node", "bun"),
		runs(also(code("text/typescript", &script, "ts", "tsx", "mts", "cts"), "application/typescript", "text/tsx"), "deno"),
		code("text/x-rust", &rust, "rs"),
		code("text/x-java", &java, "java"),
		code("text/x-csharp", &java, "cs"),
		code("text/x-c", &clang, "c", "h"),
		code("text/x-c++", &clang, "cpp", "hpp", "cc", "hh", "cxx", "cu", "ino"),
		code("text/x-objective-c", &objectiveC, "m", "mm"),
		runs(named(code("text/x-ruby", &ruby, "rb", "rake", "gemspec"), "Rakefile", "Gemfile", "Vagrantfile",
			"Brewfile", "Podfile"), "ruby"),
		runs(code("text/x-php", &php, "php"), "php"),
		runs(also(code("application/x-sh", &shell, "sh", "bash", "zsh", "ksh", "bats"), "text/x-sh",
			"text/x-shellscript"), "sh", "bash", "zsh", "dash", "ksh", "ash"),
		runs(code("text/x-powershell", &power, "ps1", "psm1", "psd1"), "pwsh"),
		code("application/sql", &sql, "sql"),
		code("text/x-protobuf", &proto, "proto", "thrift"),
		code("application/graphql", &graphQL, "graphql", "gql", "graphqls"),
		code("text/x-kotlin", &kotlin, "kt", "kts"),
		code("text/x-swift", &swift, "swift"),
		code("text/x-scala", &scala, "scala", "sc", "sbt"),
		runs(named(code("text/x-groovy", &groovy, "groovy", "gradle"), "Jenkinsfile"), "groovy"),
		code("text/x-dart", &dart, "dart"),
		runs(code("text/x-lua", &lua, "lua"), "lua", "luajit"),
		runs(code("text/x-perl", &perl, "pl", "pm", "pod"), "perl"),
		runs(code("text/x-r", &rlang, "r"), "Rscript"),
		runs(code("text/x-julia", &julia, "jl"), "julia"),
		runs(code("text/x-elixir", &elixir, "ex", "exs"), "elixir"),
		runs(code("text/x-erlang", &erlang, "erl", "hrl"), "escript"),
		code("text/x-haskell", &haskell, "hs"),
		code("text/x-ocaml", &ml, "ml", "mli", "fs", "fsx"),
		code("text/x-lisp", &lisp, "clj", "cljs", "cljc", "lisp", "el", "scm", "rkt"),
		code("text/x-zig", &zig, "zig"),
		code("text/x-nim", &nim, "nim"),
		code("text/x-vb", &basic, "vb", "bas"),
		code("text/x-fortran", &fortran, "f90", "f95", "f03"),
		code("text/x-solidity", &solidity, "sol"),
	}, configFormats(code, also, named))
}

// configFormats lists the formats of configuration, builds and styles.
func configFormats(code func(string, *language, ...string) format, also, named func(format, ...string) format) []format {
	with := func(f format, parse parseFunc) format { f.parse = parse; return f }
	return []format{
		code("text/x-hcl", &hcl, "tf", "hcl", "nomad"),
		named(code("text/x-dockerfile", &docker, "dockerfile", "containerfile"), "Dockerfile", "Containerfile", "Dockerfile.*"),
		named(code("text/x-makefile", &makes, "mk", "mak"), "Makefile", "makefile", "GNUmakefile", "Justfile", "justfile"),
		named(code("text/x-cmake", &cmake, "cmake"), "CMakeLists.txt"),
		code("text/css", &css, "css", "scss", "less", "sass"),
		code("text/x-vue", &xml, "vue", "svelte", "astro"),
		also(code("application/xml", &xml, "xml", "xsd", "xsl", "xslt", "wsdl", "csproj", "vcxproj", "props", "targets"), "text/xml"),
		code("application/x-bibtex", &bibtex, "bib"),
		also(with(code("application/toml", &config, "toml"), parseSections), "text/x-toml"),
		with(code("text/x-ini", &config, "ini", "cfg", "conf", "desktop", "service"), parseSections),
		named(code("text/x-properties", &config, "properties"), "go.mod", "go.work"),
		also(with(code("application/yaml", &config, "yaml", "yml"), parseYAML), "text/yaml", "text/x-yaml", "application/x-yaml"),
		also(with(code("application/json", &config, "json", "geojson", "webmanifest"), parseJSON), "text/json"),
		also(with(code("application/x-ndjson", &config, "jsonl", "ndjson"), parseJSONLines), "application/jsonl",
			"application/x-jsonlines"),
		also(with(code("text/csv", &config, "csv"), parseCSV), "application/csv"),
		with(code("text/tab-separated-values", &config, "tsv", "tab"), parseCSV),
	}
}
