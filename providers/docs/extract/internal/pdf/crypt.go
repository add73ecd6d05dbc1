package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// crypt decrypts strings and streams. A nil crypt returns them unchanged.
type crypt struct {
	key      []byte
	aes      bool // AES instead of RC4
	v5       bool // key is used for every object, without an object key
	identity bool // the crypt filter is Identity: nothing is encrypted
	metadata bool // metadata streams are encrypted, too
}

// passwordPad fills short passwords to 32 bytes, ISO 32000-1 §7.6.3.3.
const passwordPad = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// initCrypt prepares f to read an encrypted file that opens with the empty password.
func (f *file) initCrypt() error {
	d := f.dict(f.trailer["Encrypt"])
	if d == nil {
		return nil
	}
	c, ok := f.newCrypt(d)
	if !ok {
		return ErrEncrypted
	}
	f.crypt = c
	// The cached objects are not decrypted yet. The encryption dictionary itself is never
	// encrypted.
	f.cache, f.streams = make(map[int]any), make(map[int]map[int]any)
	if r, ok := f.trailer["Encrypt"].(ref); ok {
		f.cache[r.num] = d
	}
	if f.scanned {
		f.scanStreams()
	}
	return nil
}

func (f *file) newCrypt(d dict) (*crypt, bool) {
	v, r := int(f.number(d["V"])), int(f.number(d["R"]))
	c := &crypt{metadata: f.resolve(d["EncryptMetadata"]) != false}
	bits := int(f.number(d["Length"]))
	if v >= 4 {
		filter := f.dict(f.dict(d["CF"])[f.name(d["StmF"])])
		switch f.name(filter["CFM"]) {
		case "AESV2":
			c.aes, bits = true, 128
		case "AESV3":
			c.aes, c.v5 = true, true
		case "V2":
			bits = 128
		default:
			c.identity = true
		}
	}
	o, _ := f.resolve(d["O"]).(text)
	u, _ := f.resolve(d["U"]).(text)
	if v >= 5 {
		ue, _ := f.resolve(d["UE"]).(text)
		c.key = fileKeyV5(r, []byte(u), []byte(ue))
		return c, c.key != nil
	}
	if bits < 40 || bits > 128 || r == 2 {
		bits = 40
	}
	if len(o) < 32 || len(u) < 16 {
		return nil, false
	}
	var id text
	if ids := f.array(f.trailer["ID"]); len(ids) > 0 {
		id, _ = f.resolve(ids[0]).(text)
	}
	p := uint32(int64(f.number(d["P"])))
	c.key = fileKey(r, bits/8, []byte(o[:32]), p, []byte(id), c.metadata)
	return c, userMatches(r, c.key, []byte(id), []byte(u))
}

// fileKey computes the file key from the empty password (algorithm 2 of ISO 32000-1 §7.6.3.3).
func fileKey(r, size int, o []byte, p uint32, id []byte, metadata bool) []byte {
	h := md5.New()
	h.Write([]byte(passwordPad))
	h.Write(o)
	h.Write(binary.LittleEndian.AppendUint32(nil, p))
	h.Write(id)
	if r >= 4 && !metadata {
		h.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF})
	}
	key := h.Sum(nil)
	if r >= 3 {
		for range 50 {
			sum := md5.Sum(key[:size])
			key = sum[:]
		}
	}
	return key[:size]
}

// userMatches reports whether key belongs to the empty user password (algorithm 6).
func userMatches(r int, key, id, u []byte) bool {
	if r == 2 {
		return bytes.HasPrefix(u, rc4Of(key, []byte(passwordPad)))
	}
	sum := md5.Sum(append([]byte(passwordPad), id...))
	x := rc4Of(key, sum[:])
	for i := 1; i <= 19; i++ {
		k := bytes.Clone(key)
		for j := range k {
			k[j] ^= byte(i)
		}
		x = rc4Of(k, x)
	}
	return bytes.HasPrefix(u, x)
}

// fileKeyV5 computes the file key from the empty password (algorithm 2.A of ISO 32000-2). It
// returns nil if the file needs another password.
func fileKeyV5(r int, u, ue []byte) []byte {
	if len(u) < 48 || len(ue) < 32 {
		return nil
	}
	if !bytes.Equal(hashV5(r, u[32:40]), u[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hashV5(r, u[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(key, ue[:32])
	return key
}

// hashV5 hashes the empty password with a salt (algorithm 2.B).
func hashV5(r int, salt []byte) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	if r < 6 {
		return k
	}
	for round := 0; ; round++ {
		e := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		mod := 0
		for _, c := range e[:16] {
			mod += int(c)
		}
		switch mod % 3 {
		case 0:
			sum := sha256.Sum256(e)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(e)
			k = sum[:]
		default:
			sum := sha512.Sum512(e)
			k = sum[:]
		}
		if round >= 63 && int(e[len(e)-1]) <= round-32 {
			return k[:32]
		}
	}
}

func rc4Of(key, b []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil
	}
	out := make([]byte, len(b))
	c.XORKeyStream(out, b)
	return out
}

// objectKey derives the key of an object (algorithm 1).
func (c *crypt) objectKey(r ref) []byte {
	if c.v5 {
		return c.key
	}
	b := append(bytes.Clone(c.key), byte(r.num), byte(r.num>>8), byte(r.num>>16), byte(r.gen), byte(r.gen>>8))
	if c.aes {
		b = append(b, "sAlT"...)
	}
	sum := md5.Sum(b)
	return sum[:min(len(c.key)+5, 16)]
}

func (c *crypt) decrypt(b []byte, r ref) []byte {
	if !c.aes {
		return rc4Of(c.objectKey(r), b)
	}
	block, err := aes.NewCipher(c.objectKey(r))
	if err != nil || len(b) < 32 {
		return nil
	}
	out := make([]byte, (len(b)-16)/16*16)
	cipher.NewCBCDecrypter(block, b[:16]).CryptBlocks(out, b[16:16+len(out)])
	if n := int(out[len(out)-1]); n >= 1 && n <= 16 {
		out = out[:len(out)-n]
	}
	return out
}

// decryptStream decrypts the data of a stream.
func (c *crypt) decryptStream(b []byte, d dict, r ref) []byte {
	kind := d["Type"]
	if c == nil || c.identity || kind == name("XRef") || kind == name("Metadata") && !c.metadata {
		return b
	}
	return c.decrypt(b, r)
}

// decryptStrings decrypts the strings in an object.
func (c *crypt) decryptStrings(x any, r ref) any {
	if c == nil || c.identity {
		return x
	}
	switch x := x.(type) {
	case text:
		return text(c.decrypt([]byte(x), r))
	case array:
		for i := range x {
			x[i] = c.decryptStrings(x[i], r)
		}
	case dict:
		for k := range x {
			x[k] = c.decryptStrings(x[k], r)
		}
	}
	return x
}
