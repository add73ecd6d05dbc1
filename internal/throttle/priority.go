package throttle

// LowerPriority locks the calling goroutine to a thread and lowers the thread's priority, so that
// the kernel prefers other threads. Call it in a goroutine that is started for long work: the
// effect lasts until the goroutine and its thread end. Goroutines started by it keep the normal
// priority. It does nothing outside of Linux, because only Linux has thread priorities.
func LowerPriority() { lowerPriority() }

// Background runs fn in a goroutine with lowered priority and waits for it. A panic of fn is passed
// on to the caller.
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
