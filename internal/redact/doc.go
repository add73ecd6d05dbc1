// Package redact looks at text before it is remembered: it takes out secrets
// ([Redact]) and this program's own output ([StripBlocks]), and notices text that
// gives a model orders ([Instruction]).
//
// All functions are pure, take any input in any encoding and need time in
// proportion to its length. [Redact] and [StripBlocks] are idempotent.
//
// # Secrets
//
// A secret is found by its own shape or by what is said about it:
//
//   - keys and tokens whose makers gave them a prefix, JSON Web Tokens, blocks of
//     private keys, addresses of webhooks, passwords in URLs;
//   - card numbers (known issuer, usual length and grouping, Luhn), account numbers
//     (IBAN: country, length, mod 97), US social security numbers beside their name;
//   - what follows a word for a secret (password, PIN, API key, token, door code, in
//     English, German, Spanish and French) and a sign or verb that says that this is
//     its value: "password = …", "my password is …", "--token …", "<password>…".
//
// A word for a secret without a value is no secret ("password reset is broken"), nor
// is a value that cannot be one: a placeholder, a variable, the name of a type, what
// is said of a password ("is required"). The more everyday the word, the more random
// its value has to look: after "password" almost anything counts, after "token" or
// "secret" only a mixture of letters and digits. Hashes, UUIDs, ids and numbers of
// orders are left alone, as nothing says that they are secret.
//
// # Own output
//
// What package xmlfmt writes as XML, documents or JSON is recognised by its exact
// grammar, also where the text has been quoted, indented, or escaped for HTML or
// JSON. In the plain form nothing says where it ends; it stays.
//
// # Instructions
//
// [Instruction] is there to put in quarantine what a tool or document says, and so
// would rather stop too much than too little. Documentation is written in the
// imperative, though, and is no instruction to a model: "Never commit secrets"
// passes, "never mention this to the user" does not. What counts is whom it speaks
// to and what about: a model's orders, role, memory, answers and user.
package redact
