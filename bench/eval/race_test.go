//go:build race

package eval_test

// dialogueStep is the step at which TestMemoryDialogues picks dialogues: with the race detector it takes ten times as long.
const dialogueStep = 10
