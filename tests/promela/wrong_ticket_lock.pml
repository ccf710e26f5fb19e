// A ticket lock whose tickets are taken in two steps, so that two processes can have the same.
//@ expect checks: violated

byte next;
byte serving;
byte inside;

active [2] proctype P() {
	byte mine;
	do
	:: mine = next;
	   next = (mine + 1) % 4;
	   serving == mine;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   serving = (serving + 1) % 4
	od
}
