//go:build !unix

package minilm

import "time"

// processorTime returns 0 where it is not known.
func processorTime() time.Duration { return 0 }
