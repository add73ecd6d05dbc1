//go:build !race

package eval_test

// dialogueStep is the step at which TestMemoryDialogues picks dialogues: all of them.
const dialogueStep = 1
