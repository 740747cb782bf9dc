package messagesql

// DecodeHeaders lets tests read the rows that the package only counts.
var DecodeHeaders = decodeHeaders
