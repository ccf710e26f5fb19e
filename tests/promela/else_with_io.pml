// else over options that wait for values of two variables, and else as the way out of nested loops.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 28

byte a, b;

active proctype P() {
	byte n;
	do
	:: n < 4 ->
		if
		:: a > b -> b++
		:: b > a -> a++
		:: else ->
			if
			:: a++
			:: b++
			fi
		fi;
		n++
	:: else -> break
	od;
	assert(a + b == 4 && a - b <= 1 && b - a <= 1)
}
