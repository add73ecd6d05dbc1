// Package queryexpand expands a query with words of the conversation that it belongs to, and with
// words of the texts found for it.
//
// # Follow-up questions
//
// "And how do I turn it off?" cannot be searched alone. [FollowUp] decides whether a question
// depends on the messages before it, and if so returns words of them as further wordings. An
// independent question gets none, and is searched as if there were no messages.
//
// A question depends on the conversation if one of these holds, checked in this order:
//
//   - it has a word that refers to something, and no earlier clause of the question
//     names it: it, they, that, those, the one, there; dafür, ihn; celui-ci, y; eso, lo;
//   - it begins or goes on like a continuation: and, but, so, what about; also, too,
//     else, instead, afterwards;
//   - it has hardly any content words: "why?", "which port?".
//
// The first gives the highest dependence, the last the lowest, and each is reduced by the number of
// content words in the question. A question with more than twelve is independent, and so is one
// that announces a new topic. The word lists cover English, German, French and Spanish; the
// language is detected from the question's function words. A question in another language is
// independent.
//
// Expansion takes content words (the function words of each text's language are left out). Most
// come from the user's last message. The assistant's last message is usually long and covers much
// else, so it gives only its most informative words. Earlier user messages count less with every
// message, and the newest tool result gives a few words. Of a long message, only the beginning and
// the end are read.
//
// Rule-based expansion has a long history. It works if the question keeps its full weight and the
// words of the conversation count for less. (Compare "historical query expansion" in Lin et al.,
// "Multi-Stage Conversational Passage Retrieval", TOIS 2021, which decides by the scores of a first
// search.)
//
// # Feedback
//
// [Feedback] is RM3, the relevance model interpolated with the query (Lavrenko and Croft,
// "Relevance-Based Language Models", SIGIR 2001; Abdul-Jaleel et al., "UMass at TREC 2004: Novelty
// and HARD", 2004).
//
// All functions are pure and safe for concurrent use.
package queryexpand
