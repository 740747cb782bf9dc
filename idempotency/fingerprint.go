package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// version is the first byte of every fingerprint. It must grow when the encoding of [Builder] changes, since stored
// fingerprints outlive the program that made them.
const version = 1

// Fingerprint identifies a decoded command: one byte of version and a SHA-256. The zero value is that of no command.
type Fingerprint [1 + sha256.Size]byte

// ErrInvalidFingerprint is wrapped by the errors of [ParseFingerprint].
var ErrInvalidFingerprint = errors.New("invalid fingerprint")

// ParseFingerprint reads what [Fingerprint.Bytes] returned. A version that this program doesn't know is an error: it
// can't be compared.
func ParseFingerprint(stored []byte) (Fingerprint, error) {
	var f Fingerprint
	if len(stored) != len(f) {
		return f, fmt.Errorf("%w: %d bytes instead of %d", ErrInvalidFingerprint, len(stored), len(f))
	}
	if stored[0] != version {
		return f, fmt.Errorf("%w: unknown version %d", ErrInvalidFingerprint, stored[0])
	}
	copy(f[:], stored)
	return f, nil
}

// Bytes returns the form to be stored.
func (f Fingerprint) Bytes() []byte { return bytes.Clone(f[:]) }

// Equal reports whether both are of the same command.
func (f Fingerprint) Equal(other Fingerprint) bool { return f == other }

// String returns the version and the hash, such as "v1:9f86d0…", in full.
func (f Fingerprint) String() string { return fmt.Sprintf("v%d:%s", f[0], hex.EncodeToString(f[1:])) }

// Builder writes the members of a command one after the other and hashes them. The encoding is unambiguous: each member
// carries its type, its name and its length, so no two different commands are written alike. The caller fixes the order
// of the members; headers and anything else that may differ between two tries of one command stay out.
type Builder struct {
	buf []byte
}

// The tags of the encoding. A list ends each of its elements by tagEnd, which no member begins with.
const (
	tagEnd byte = iota
	tagString
	tagInt
	tagBool
	tagList
)

// NewFingerprint begins the fingerprint of a command of the named operation, such as "orders.place".
func NewFingerprint(operation string) *Builder {
	b := &Builder{buf: make([]byte, 0, 512)}
	b.text(operation)
	return b
}

// String writes a member that is always there.
func (b *Builder) String(name, value string) *Builder {
	b.member(tagString, name)
	b.text(value)
	return b
}

// OptString writes a member that may be absent; nil leaves it out, which is not the same as empty.
func (b *Builder) OptString(name string, value *string) *Builder {
	if value == nil {
		return b
	}
	return b.String(name, *value)
}

// Int writes a member that is always there.
func (b *Builder) Int(name string, value int64) *Builder {
	b.member(tagInt, name)
	b.number(uint64(value))
	return b
}

// OptInt writes a member that may be absent; nil leaves it out, which is not the same as zero.
func (b *Builder) OptInt(name string, value *int64) *Builder {
	if value == nil {
		return b
	}
	return b.Int(name, *value)
}

// Bool writes a member that is always there.
func (b *Builder) Bool(name string, value bool) *Builder {
	b.member(tagBool, name)
	var bit uint64
	if value {
		bit = 1
	}
	b.number(bit)
	return b
}

// List writes a member of n elements in order; element writes the members of the i-th one. An empty list is not the
// same as none.
func (b *Builder) List(name string, n int, element func(i int, b *Builder)) *Builder {
	b.member(tagList, name)
	b.number(uint64(n))
	for i := range n {
		element(i, b)
		b.buf = append(b.buf, tagEnd)
	}
	return b
}

// Sum returns the fingerprint of what was written so far.
func (b *Builder) Sum() Fingerprint {
	f := Fingerprint{version}
	sum := sha256.Sum256(b.buf)
	copy(f[1:], sum[:])
	return f
}

func (b *Builder) member(tag byte, name string) {
	b.buf = append(b.buf, tag)
	b.text(name)
}

func (b *Builder) text(s string) {
	b.number(uint64(len(s)))
	b.buf = append(b.buf, s...)
}

func (b *Builder) number(n uint64) { b.buf = binary.BigEndian.AppendUint64(b.buf, n) }
