// A block that begins with a loop is a state apart from the loop, to which control comes back; so is an inline.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 12

byte x;

inline swing() {
	do
	:: x = 1 - x
	:: x == 1 -> break
	od
}

active proctype P() {
	{
		do
		:: x < 1 -> x++
		:: x == 1 -> break
		od
	};
	swing();
	{
		{
			do
			:: x = 0
			:: break
			od
		}
	}
}
