package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// makeTable makes a static-embedding model of three words: table DIR.
func makeTable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: table DIR")
	}
	tokenizer := `{"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
		"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "zebras": 1, "stripes": 2, "soup": 3}}}`
	head := `{"embeddings": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}`
	model := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	model = append(model, head...)
	for _, x := range []float32{0, 0, 1, 0, 1, .1, 0, 1} {
		model = binary.LittleEndian.AppendUint32(model, math.Float32bits(x))
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	for name, data := range map[string][]byte{"tokenizer.json": fmt.Append(nil, tokenizer), "model.safetensors": model} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
}
