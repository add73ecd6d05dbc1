// Package fetch gets documents from web servers: pages one by one, or those that
// a sitemap lists.
//
// Which hosts are asked is the operator's to say ([Hosts]), because everything
// else comes from strangers: a redirect or a sitemap may lead anywhere, and a
// name may resolve to an address of one's own network. The host of every request
// is checked before it, the address when the connection is made, so that a name
// whose address changes in between does not pass either.
//
// A server is treated with courtesy: two requests a second, at most two at a time,
// robots.txt heeded (RFC 9309), Retry-After too, pages asked for with the validators
// of the last time, so that an unchanged one costs an answer without a body. A server
// that fails again and again is left alone.
//
// What comes back is hostile until it is read: its size, time, redirects, nesting
// and number are bounded.
package fetch
