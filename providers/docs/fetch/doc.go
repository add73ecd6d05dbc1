// Package fetch downloads documents from web servers: single pages, or all pages of a sitemap.
//
// The operator configures which hosts are allowed ([Hosts]), because all other input is untrusted:
// a redirect or a sitemap may lead anywhere, and a name may resolve to a private address. The host
// is checked before every request, and the address at connection time, so that a name cannot change
// its address in between.
//
// The client limits the load on a server: two requests a second, at most two in parallel. It
// respects robots.txt (RFC 9309) and Retry-After. Conditional requests make an unchanged page cost
// a response without a body. Requests to a server that fails repeatedly are paused.
//
// Responses are untrusted: size, time, redirects, nesting and number are limited.
package fetch
