package throttle

// LowerPriority gives the goroutine that calls it, for the rest of its life, a thread of its own
// that the kernel lets wait while others need the cores. It is for a goroutine that is
// started for long work and ends with it, as the thread does: what it starts itself is
// not demoted. Only Linux has priorities of threads; elsewhere Demote does nothing.
func LowerPriority() { lowerPriority() }

// Background runs fn in a demoted goroutine and waits for it, for long work that others
// start. It panics as fn does.
func Background(fn func()) {
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		LowerPriority()
		fn()
	}()
	if p := <-ended; p != nil {
		panic(p)
	}
}
