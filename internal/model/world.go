package model

import (
	"encoding/binary"
	"math/bits"
)

const (
	maxSteps   = 18 // of a run, over all attempts
	maxShards  = 2
	maxWorkers = 2
)

// world is a state of everything. It is a value: to copy it is to assign it.
type world struct {
	run     uint16 // the run's document: an interned state
	view    uint16 // the state that the view was last written from
	bag     uint32 // messages under way, a bit per step
	shards  [maxShards]uint16
	workers [maxWorkers]worker
	steps   [maxSteps]document
	left    Faults
}

// worker is a handler in the middle of a message.
type worker struct {
	pc    counter
	then  counter // where it goes on after publishing
	msg   uint8   // the step that its message names
	run   uint16  // the run as it was read
	shard uint16  // the shard as it was read
	pub   uint32  // what is still to be published
	out   outcome
	made  uint8 // shards created by an expansion
	flags uint8
}

// What a worker knows to be unchanged since it read it, and what it did.
const (
	runFresh uint8 = 1 << iota
	stepFresh
	shardFresh
	tookOver
)

func (k *worker) is(flag uint8) bool { return k.flags&flag != 0 }

// document of a step: its claim and what the agent did for it.
type document struct {
	status   status
	owner    uint8 // worker + 1; 0: somebody who is gone
	expired  bool
	back     bool // it was given back, to be tried again
	claims   uint8
	expiries uint8 // leases that ran out or were given back
	asked    uint8 // calls that reached the agent
	paid     uint8 // calls that it worked for
}

type status uint8

const (
	absent status = iota
	claimed
	done
	late // the result came when nobody needed it
)

type outcome uint8

const (
	answered outcome = iota
	away             // the call failed in transport
	asks             // the agent asks a person
)

// key is the hash of a canonical world. Two worlds of one key are taken for one:
// with 128 bits, a collision among 50 million states has a chance below 1e-23.
type key [2]uint64

// size of the bytes that are hashed: a multiple of eight.
const size = 4 + 4 + 2*maxShards + 14*maxWorkers + 3*maxSteps + 10

var _ [0]struct{} = [size % 8]struct{}{}

// bytes writes what tells w apart from other worlds. bare leaves out what does
// not decide how the run goes on: budgets and counters.
func (w *world) bytes(b *[size]byte, bare bool) {
	binary.LittleEndian.PutUint16(b[0:], w.run)
	binary.LittleEndian.PutUint16(b[2:], w.view)
	binary.LittleEndian.PutUint32(b[4:], w.bag)
	at := 8
	for _, s := range w.shards {
		binary.LittleEndian.PutUint16(b[at:], s)
		at += 2
	}
	for i := range w.workers {
		w.workers[i].bytes(b[at : at+14])
		at += 14
	}
	for i := range w.steps {
		d := &w.steps[i]
		b[at] = byte(d.status) | d.owner<<2
		if d.expired {
			b[at] |= 1 << 6
		}
		if d.back {
			b[at] |= 1 << 7
		}
		if !bare {
			b[at+1] = d.claims | d.expiries<<4
			b[at+2] = d.asked | d.paid<<4
		}
		at += 3
	}
	if !bare {
		for _, n := range w.left.counts() {
			b[at] = *n
			at++
		}
	}
}

func (k *worker) bytes(b []byte) {
	if k.pc == idle {
		return
	}
	b[0], b[1], b[2], b[3] = byte(k.pc), byte(k.then), k.msg, byte(k.out)|k.made<<4
	binary.LittleEndian.PutUint16(b[4:], k.run)
	binary.LittleEndian.PutUint16(b[6:], k.shard)
	binary.LittleEndian.PutUint32(b[8:], k.pub)
	b[12] = k.flags
}

// key hashes w after canonical.
func (w *world) key(bare bool) key {
	var b [size]byte
	w.bytes(&b, bare)
	x, y := uint64(0x9e3779b97f4a7c15), uint64(0xd1b54a32d192ed03)
	for i := 0; i < size; i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		hi, lo := bits.Mul64(x^v, 0xa0761d6478bd642f)
		x = hi ^ lo ^ bits.RotateLeft64(y, 17)
		hi, lo = bits.Mul64(y^bits.RotateLeft64(v, 32), 0xe7037ed1a0b428db)
		y = hi ^ lo ^ bits.RotateLeft64(x, 31)
	}
	hi, lo := bits.Mul64(x^0x8ebc6af09c88c6e3, y^0x589965cc75374cc3)
	return key{x ^ hi, y ^ lo}
}

// canonical puts the workers, who are alike, into an order.
func (w *world) canonical() {
	if !w.workers[1].before(&w.workers[0]) {
		return
	}
	w.workers[0], w.workers[1] = w.workers[1], w.workers[0]
	for i := range w.steps {
		if o := w.steps[i].owner; o > 0 {
			w.steps[i].owner = 3 - o
		}
	}
}

// before orders workers: the busy ones first.
func (k *worker) before(o *worker) bool {
	if (k.pc == idle) != (o.pc == idle) {
		return k.pc != idle
	}
	var a, b [16]byte
	k.bytes(a[:14])
	o.bytes(b[:14])
	for i := 0; i < 16; i += 8 {
		x, y := binary.BigEndian.Uint64(a[i:]), binary.BigEndian.Uint64(b[i:])
		if x != y {
			return x < y
		}
	}
	return false
}

// rest makes a worker idle: it has acknowledged its message, or died.
func (w *world) rest(who int) {
	w.workers[who] = worker{}
	for i := range w.steps {
		if w.steps[i].owner == uint8(who)+1 {
			w.steps[i].owner = 0 // its token is never used again
		}
	}
}

func bump(n *uint8) {
	if *n < 15 {
		*n++
	}
}
