package session

// Written and AnyForm are the two ways in which messages are read.
var (
	Written = readCanonical
	AnyForm = readAnyForm
)
