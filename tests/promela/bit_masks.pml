// The word of a mutex: a lock bit, a bit for those who were woken, and a number of waiters above them; set and cleared with masks.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 1011

#define LOCKED 1
#define WOKEN 2
#define ONE_WAITER 4

byte word;
byte inside;

active [2] proctype Thread() {
	byte old;
	short mask = -2;
	do
	:: atomic {
		(word & LOCKED) == 0 ->
		old = word;
		word = (word | LOCKED) & ~WOKEN
	   };
	   inside++;
	   assert(inside == 1 && (word & 3) == LOCKED && (word ^ LOCKED) % 2 == 0);
	   inside--;
	   atomic {
		if
		:: word >> 2 -> word = (word - ONE_WAITER) | WOKEN
		:: else
		fi;
		assert((word & mask) == word - 1 && (LOCKED & word) == 1);
		word = word & mask
	   }
	:: atomic { (word & LOCKED) && word < 12 -> word = word + ONE_WAITER }
	:: word & 245 -> assert((word ^ 53) == (word | 53) - (word & 53))
	od
}
