module github.com/ragctx/ragctx/bench/vector

go 1.26.0

replace github.com/ragctx/ragctx => ../..

require (
	github.com/coder/hnsw v0.6.1
	github.com/philippgille/chromem-go v0.7.0
	github.com/ragctx/ragctx v0.0.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/abadojack/whatlanggo v1.0.1 // indirect
	github.com/blevesearch/mmap-go v1.0.4 // indirect
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/gogs/chardet v0.0.0-20211120154057-b7413eaefb8f // indirect
	github.com/google/renameio v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	github.com/viterin/vek v0.4.2 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
