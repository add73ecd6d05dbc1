// Package timeexpr reads what a question says about time: "what did we discuss
// last Friday?", "über die Sitzungen 3 bis 5", "hace dos semanas", "depuis le
// 1er mai".
//
// [Read] cuts the question into words, once, looks them up in the tables of
// four languages (English, German, Spanish, French) and tries a small grammar
// at each word. It looks ahead a bounded number of words, so it takes linear
// time, and a question without a word of time is decided after the first pass.
//
// Languages are not guessed. The grammar is one for all four: what differs
// between them is the order of a few words, and all orders are tried ("last
// three days", "trois derniers jours", "semana pasada"). Words that mean
// something else in another language, or in the same, are settled by what
// stands beside them:
//
//   - A number counts sessions, days or weeks only beside such a noun; a
//     month's name counts after a preposition, beside a day or before a year;
//     "may", "march" and "mars" in addition want a capital letter, or a word
//     before them that only a date can follow.
//   - A number word after a noun must be of the noun's language: "the session
//     once" is not session 11.
//   - "hier" is yesterday only among French words.
//   - 3/7/2023 is the seventh of March, unless the question has German, Spanish
//     or French words, or that day is still to come. 3.7.2023 is the third of July.
//   - Weeks begin on Monday. "last week" is a calendar week; "the last week",
//     "this past week" and "la última semana" end today.
//   - "N weeks ago" is that day with three days on either side; "N months ago"
//     is the calendar month.
//   - "after" a day leaves it out, "since" takes it in, "until" takes it in,
//     "before" leaves it out.
//   - A day, month or weekday without a year is the latest one that is not
//     after now. A weekday is never today. What is still to come ("tomorrow",
//     "next Friday") is not read: nothing recorded lies there.
//   - What is a name, a habit or a verb is no time: "Monday.com", "8 May Street", "on
//     a Friday", "le lundi", "la hermana de Abril", "beans in Spring", "does it last
//     three months".
//   - Where a question names several times, sessions win over dates, dates over
//     relative times, and the first over the later.
//
// [Dates] reads the times that records state, such as "29.12.2023, 22:42:04", on which
// nothing is guessed.
//
// What a question says and what is recorded do not always agree: people err by
// a day. [Reading.Window] settles that against the [Timeline].
package timeexpr
