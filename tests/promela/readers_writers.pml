// Readers and writers: many readers or one writer, with a counter of readers.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect alone: proved
//@ expect writers_enter: violated
// SPIN: states: 33

byte readers;
bool writing;
byte reading_now, writing_now;

active [2] proctype Reader() {
	do
	:: atomic { !writing -> readers++ }
	   reading_now++;
	   assert(writing_now == 0);
	   reading_now--;
	   readers--
	od
}

active [2] proctype Writer() {
	do
	:: atomic { !writing && readers == 0 -> writing = true }
	   writing_now++;
	   assert(writing_now == 1 && reading_now == 0);
	   writing_now--;
	   writing = false
	od
}

ltl alone { [] (writing_now == 1 -> reading_now == 0) }
ltl writers_enter { [] <> (writing_now == 1) }
