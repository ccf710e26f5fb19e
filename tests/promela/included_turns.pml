// A file that is included: a macro and an inline of it.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 301

#include "turns.h"

byte turn, taken;

active proctype A() {
	byte i;
	for (i : 1 .. TURNS) { take_turn(0, 1) }
}

active proctype B() {
	byte i;
	for (i : 1 .. TURNS) { take_turn(1, 0) }
}

active proctype Watcher() {
	assert(taken <= 2 * TURNS)
}
