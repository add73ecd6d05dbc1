package imports

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// errPickle is the error of a pickle that is damaged or has unusual parts.
var errPickle = errors.New("is a pickle that cannot be read")

// object is an instance of a class of Python. Its class is ignored and never loaded.
type object struct{ state any }

// mark begins a group of values on the stack.
type mark struct{}

// pickle reads the data of a pickle of protocol 4 or 5, as the local mode of Qdrant's client writes it. It
// runs nothing: a class is only a name, and an instance only its attributes.
type pickle struct {
	in    []byte
	stack []any
	memo  []any
}

// unpickle returns the value: nil, bool, int64, float64, string, []any, map[string]any or *object.
func unpickle(b []byte) (v any, err error) {
	defer func() {
		if r := recover(); r != nil { // the end of the input or of the stack
			err = fmt.Errorf("%w: %v", errPickle, r)
		}
	}()
	p := pickle{in: b}
	for {
		op := p.take(1)[0]
		if op == '.' {
			return p.pop(), nil
		}
		if err := p.step(op); err != nil {
			return nil, err
		}
	}
}

func (p *pickle) take(n int) []byte {
	out := p.in[:n]
	p.in = p.in[n:]
	return out
}

func (p *pickle) push(v any) { p.stack = append(p.stack, v) }

func (p *pickle) pop() any {
	v := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	return v
}

// group removes the values after the last mark, and returns them.
func (p *pickle) group() []any {
	for i := len(p.stack) - 1; ; i-- {
		if _, ok := p.stack[i].(mark); ok {
			out := append([]any(nil), p.stack[i+1:]...)
			p.stack = p.stack[:i]
			return out
		}
	}
}

// length reads an unsigned number of n bytes, at most the rest of the input.
func (p *pickle) length(n int) int {
	var b [8]byte
	copy(b[:], p.take(n))
	return int(min(binary.LittleEndian.Uint64(b[:]), uint64(len(p.in)+1))) // one more fails in take
}

// step runs one instruction. The comments are the names of Python's pickletools.
func (p *pickle) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		p.take(1)
	case 0x95: // FRAME
		p.take(8)
	case '(': // MARK
		p.push(mark{})
	case 'N': // NONE
		p.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		p.push(op == 0x88)
	case 'K': // BININT1
		p.push(int64(p.take(1)[0]))
	case 'M': // BININT2
		p.push(int64(binary.LittleEndian.Uint16(p.take(2))))
	case 'J': // BININT
		p.push(int64(int32(binary.LittleEndian.Uint32(p.take(4))))) //nolint:gosec // it is signed
	case 0x8a: // LONG1
		return p.long()
	case 'G': // BINFLOAT
		p.push(math.Float64frombits(binary.BigEndian.Uint64(p.take(8))))
	case 0x8c, 'C': // SHORT_BINUNICODE, SHORT_BINBYTES
		p.push(string(p.take(p.length(1))))
	case 'X', 'B': // BINUNICODE, BINBYTES
		p.push(string(p.take(p.length(4))))
	case 0x8d, 0x8e: // BINUNICODE8, BINBYTES8
		p.push(string(p.take(p.length(8))))
	case ']', 0x8f: // EMPTY_LIST, EMPTY_SET
		p.push(&[]any{})
	case ')': // EMPTY_TUPLE
		p.push(&[]any{})
	case '}': // EMPTY_DICT
		p.push(map[string]any{})
	case 0x94: // MEMOIZE
		p.memo = append(p.memo, p.stack[len(p.stack)-1])
	case 'h': // BINGET
		p.push(p.memo[p.take(1)[0]])
	case 'j': // LONG_BINGET
		p.push(p.memo[binary.LittleEndian.Uint32(p.take(4))])
	default:
		return p.build(op)
	}
	return nil
}

// long reads an integer of up to 8 bytes.
func (p *pickle) long() error {
	b := p.take(p.length(1))
	if len(b) > 8 {
		return fmt.Errorf("%w: it has an integer of %d bytes", errPickle, len(b))
	}
	var whole [8]byte
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		whole = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	copy(whole[:], b)
	p.push(int64(binary.LittleEndian.Uint64(whole[:]))) //nolint:gosec // it is signed
	return nil
}

// build runs an instruction that fills a list, a map or an instance.
func (p *pickle) build(op byte) error {
	switch op {
	case 'a': // APPEND
		v := p.pop()
		p.extend(v)
	case 'e', 0x90: // APPENDS, ADDITEMS
		p.extend(p.group()...)
	case 's': // SETITEM
		v, k := p.pop(), p.pop()
		return p.set(k, v)
	case 'u': // SETITEMS
		return p.set(p.group()...)
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		n := len(p.stack) - int(op-0x84)
		list := append([]any(nil), p.stack[n:]...)
		p.stack = append(p.stack[:n], &list)
	case 't': // TUPLE
		list := p.group()
		p.push(&list)
	case 0x93: // STACK_GLOBAL
		p.pop()
		p.pop()
		p.push(&object{})
	case 0x81, 'R': // NEWOBJ, REDUCE: a class and its arguments
		args := p.pop()
		p.pop()
		p.push(&object{state: args})
	case 'b': // BUILD
		state := p.pop()
		p.stack[len(p.stack)-1].(*object).state = state
	default:
		return fmt.Errorf("%w: it has the instruction %#x", errPickle, op)
	}
	return nil
}

func (p *pickle) extend(values ...any) {
	list := p.stack[len(p.stack)-1].(*[]any)
	*list = append(*list, values...)
}

// set puts keys and values into the map on top of the stack.
func (p *pickle) set(items ...any) error {
	to := p.stack[len(p.stack)-1].(map[string]any)
	for ; len(items) > 1; items = items[2:] {
		key, ok := keyOf(items[0])
		if !ok {
			return fmt.Errorf("%w: it has a key that is neither text nor a number", errPickle)
		}
		to[key] = items[1]
	}
	return nil
}

// keyOf returns a text or an integer as text.
func keyOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	default:
		return "", false
	}
}

// maxValues is how many values, and blocks of 64 bytes of text, plain copies. A small pickle can refer to a value from
// many places.
const maxValues = 1_000_000

// plain returns a value of a pickle with the types of JSON. Instances and tuples that contain themselves
// become nil.
func plain(v any, depth int, left *int) any {
	if *left--; *left < 0 || depth > 100 {
		return nil
	}
	switch v := v.(type) {
	case *[]any:
		out := []any{}
		for _, one := range *v {
			out = append(out, plain(one, depth+1, left))
			if *left < 0 {
				break
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any)
		for k, one := range v {
			out[k] = plain(one, depth+1, left)
		}
		return out
	case string:
		*left -= len(v) / 64
		return v
	case *object, mark:
		return nil
	default:
		return v
	}
}
