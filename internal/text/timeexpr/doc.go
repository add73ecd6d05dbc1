// Package timeexpr reads the time that a question names: "what did we discuss last Friday?", "über
// die Sitzungen 3 bis 5", "hace dos semanas", "depuis le 1er mai".
//
// [Read] splits the question into words once, looks them up in the tables of four languages
// (English, German, Spanish, French) and tries a small grammar at each word. Lookahead is bounded,
// so reading takes linear time. A question without a time word is rejected after the first pass.
//
// The package does not detect the language. One grammar serves all four: they differ in the order
// of a few words, and all orders are tried ("last three days", "trois derniers jours", "semana
// pasada"). Ambiguous words are resolved by their neighbors:
//
//   - A number counts sessions, days or weeks only next to such a noun. A
//     month's name counts after a preposition, next to a day or before a year.
//     "may", "march" and "mars" also need a capital letter, or a preceding
//     word that only a date can follow.
//   - A number word after a noun must be of the noun's language: "the session
//     once" is not session 11.
//   - "hier" means yesterday only among French words.
//   - 3/7/2023 is the seventh of March, unless the question has German, Spanish
//     or French words, or that day lies in the future. 3.7.2023 is the third of July.
//   - Weeks begin on Monday. "last week" is a calendar week; "the last week",
//     "this past week" and "la última semana" end today.
//   - "N weeks ago" is that day plus and minus three days; "N months ago"
//     is the calendar month.
//   - "after" and "before" exclude the named day; "since" and "until" include it.
//   - A day, month or weekday without a year is the most recent one that is not
//     after now. A weekday is never today. Future times ("tomorrow", "next Friday")
//     are not read: nothing recorded lies there.
//   - Names, habits and verbs are not times: "Monday.com", "8 May Street", "on
//     a Friday", "le lundi", "la hermana de Abril", "beans in Spring", "does it last
//     three months".
//   - If a question names several times, sessions win over dates, dates over
//     relative times, and earlier words over later ones.
//
// [Dates] reads timestamps of records, such as "29.12.2023, 22:42:04", without guessing.
//
// Questions and records do not always agree, because people are often off by a day.
// [Reading.Window] resolves this against the [Timeline].
package timeexpr
