// Package queryexpand says a question in more words: in those of the conversation
// that it comes from, and in those of the texts that were found for it.
//
// # Follow-up questions
//
// "And how do I turn it off?" cannot be searched as it stands. [FollowUp] decides
// whether a question leans on the messages before it, and if it does, gives words
// of them as further wordings. A question that stands by itself gets none and so
// is searched as if there had been no messages.
//
// A question leans on what came before where, in this order,
//
//   - it has a word that stands for something and nothing in an earlier clause of
//     the question for it to stand for: it, they, that, those, the one, there; dafür,
//     ihn; celui-ci, y; eso, lo;
//   - it begins or goes on like the second half of something: and, but, so, what
//     about; also, too, else, instead, afterwards;
//   - it has hardly any words that say what it is about: "why?", "which port?".
//
// The first weigh most, the last least, and all of them less the more words of its
// own the question has; with more than twelve it stands by itself. So does one that
// says that its topic is new. Which words these are is known for English, German,
// French and Spanish; the question's own small words say which language it is in.
// A question in another language stands by itself.
//
// What is taken are words that say something (small words of the language of each
// text are left out): of the last thing the user said most; of the assistant's last
// message, which is long as a rule and says much besides, only the most telling
// words; of what the user said before, less with every message; of the newest tool
// result a few words. Messages of any size are read at their beginning and their
// end only.
//
// Wordings by rule and not by a model have a long history; what helps is that the
// question keeps its full weight and the words before it count for less. (Compare
// "historical query expansion" in Lin et al., "Multi-Stage Conversational Passage
// Retrieval", TOIS 2021, which decides by the scores of a first search.)
//
// # Feedback
//
// [Feedback] is RM3, the relevance model interpolated with the question (Lavrenko
// and Croft, "Relevance-Based Language Models", SIGIR 2001; Abdul-Jaleel et al.,
// "UMass at TREC 2004: Novelty and HARD", 2004).
//
// Everything here is a pure function, and safe for concurrent use.
package queryexpand
