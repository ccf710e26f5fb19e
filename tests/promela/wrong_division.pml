// A remainder by a variable that can be zero is avoided; the sum is not what the assertion says.
//@ expect checks: violated
//@ expect deadlock_free: proved

byte x, y = 3;

active proctype Decrease() {
	do
	:: y > 0 -> y--
	:: else -> break
	od
}

active proctype Divide() {
	byte d;
	d = y;
	if
	:: d > 0 -> x = 7 / d
	:: else -> x = 99
	fi;
	assert(x <= 7)
}
