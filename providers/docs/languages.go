package docs

import (
	"slices"
	"strings"
)

// language is what the parser of source code knows about one. Lines are judged
// by their first words alone; that is right often enough to find where
// declarations begin, and costs nothing.
type language struct {
	// keywords begin a declaration, after modifiers.
	keywords []string
	// modifiers may come before a keyword.
	modifiers []string
	// comments begin a line of a comment, or of an attribute of what follows.
	comments []string
	// calls says that "name(...) {" begins a declaration, as in C.
	calls bool
	// docstring is how a file's description is quoted where it is no comment.
	docstring string
}

var (
	slashes = []string{"//", "/*", "*"}
	hashes  = []string{"#"}
	dashes  = []string{"--", "/*", "*"}
)

// languages is keyed by format; see codeFormats.
var (
	golang = language{keywords: []string{"func", "type", "const", "var"}, comments: slashes}
	python = language{
		keywords: []string{"def", "class"}, modifiers: []string{"async"},
		comments: []string{"#", "@"}, docstring: `"""`,
	}
	script = language{
		keywords:  []string{"function", "class", "interface", "type", "enum", "const", "let", "var", "namespace"},
		modifiers: []string{"export", "default", "async", "declare", "abstract"}, comments: append([]string{"@"}, slashes...),
	}
	rust = language{
		keywords:  []string{"fn", "struct", "enum", "trait", "impl", "mod", "type", "macro_rules!", "union"},
		modifiers: []string{"pub", "pub(crate)", "pub(super)", "async", "unsafe", "const", "default", "extern"},
		comments:  append([]string{"#["}, slashes...),
	}
	java = language{
		keywords:  []string{"class", "interface", "enum", "record", "struct", "namespace", "@interface"},
		modifiers: []string{"public", "protected", "private", "static", "final", "abstract", "sealed", "internal", "partial", "override", "virtual", "async", "synchronized"},
		comments:  append([]string{"@", "["}, slashes...), calls: true,
	}
	clang = language{
		keywords:  []string{"struct", "class", "enum", "union", "namespace", "typedef", "template"},
		modifiers: []string{"static", "extern", "inline", "constexpr"}, comments: slashes, calls: true,
	}
	ruby = language{keywords: []string{"def", "class", "module"}, comments: hashes}
	php  = language{
		keywords:  []string{"function", "class", "interface", "trait", "enum", "namespace"},
		modifiers: []string{"public", "protected", "private", "static", "final", "abstract"},
		comments:  append([]string{"#"}, slashes...),
	}
	shell  = language{keywords: []string{"function"}, comments: hashes, calls: true}
	power  = language{keywords: []string{"function", "class", "filter", "enum", "Function"}, comments: []string{"#", "["}}
	sql    = language{keywords: []string{"create", "CREATE", "alter", "ALTER"}, comments: dashes}
	proto  = language{keywords: []string{"message", "service", "enum", "rpc"}, comments: slashes}
	config = language{comments: hashes}
)

// codeFormats lists the formats of source code and configuration.
func codeFormats() []format {
	code := func(mime string, lang *language, exts ...string) format {
		return format{mime: mime, exts: exts, parse: parseSource, lang: lang}
	}
	js := code("text/javascript", &script, "js", "jsx", "mjs", "cjs")
	js.also = []string{"application/javascript", "text/jsx"}
	ts := code("text/typescript", &script, "ts", "tsx")
	ts.also = []string{"application/typescript", "text/tsx"}
	jsonFormat := code("application/json", &config, "json", "jsonl")
	yaml := code("application/yaml", &config, "yaml", "yml")
	yaml.also = []string{"text/yaml", "text/x-yaml", "application/x-yaml"}
	toml := code("application/toml", &config, "toml")
	toml.also = []string{"text/x-toml"}
	sh := code("application/x-sh", &shell, "sh", "bash")
	sh.also = []string{"text/x-sh", "text/x-shellscript"}
	return []format{
		code("text/x-go", &golang, "go"),
		code("text/x-python", &python, "py", "pyi"),
		js, ts,
		code("text/x-rust", &rust, "rs"),
		code("text/x-java", &java, "java"),
		code("text/x-csharp", &java, "cs"),
		code("text/x-c", &clang, "c", "h"),
		code("text/x-c++", &clang, "cpp", "hpp", "cc", "hh", "cxx"),
		code("text/x-ruby", &ruby, "rb"),
		code("text/x-php", &php, "php"),
		sh,
		code("text/x-powershell", &power, "ps1", "psm1"),
		code("application/sql", &sql, "sql"),
		code("text/x-protobuf", &proto, "proto"),
		toml, yaml, jsonFormat,
	}
}

// values are the keywords that declare something of interest only outermost.
var values = []string{"var", "const", "let"}

// declares reports whether a line, without indentation, begins a declaration;
// nested says that it is inside of another.
func (l *language) declares(line string, nested bool) bool {
	rest := line
	for range 6 {
		word, tail, _ := strings.Cut(rest, " ")
		if word = strings.TrimRight(word, "({:"); slices.Contains(l.keywords, word) {
			return !nested || !slices.Contains(values, word)
		}
		if !slices.Contains(l.modifiers, word) {
			break
		}
		rest = strings.TrimLeft(tail, " ")
	}
	return l.calls && declaresCall(rest)
}

// declaresCall reports whether a line looks like "int name(args) {".
func declaresCall(line string) bool {
	open := strings.IndexByte(line, '(')
	if open <= 0 || !strings.HasSuffix(strings.TrimSpace(line), "{") || strings.ContainsAny(line[:open], "=.;\"'") {
		return false
	}
	word := strings.FieldsFunc(line[:open], func(r rune) bool { return r == ' ' || r == '}' })
	return len(word) > 0 && !slices.Contains([]string{"if", "for", "while", "switch", "catch", "else", "return", "do", "try", "using", "lock", "foreach", "new"}, word[0])
}

// comment reports whether a line, without indentation, is a comment or an
// attribute, which belongs to what follows it.
func (l *language) comment(line string) bool {
	for _, c := range l.comments {
		if strings.HasPrefix(line, c) {
			return true
		}
	}
	return false
}
