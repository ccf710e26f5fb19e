// An index one past the end of an array.
//@ expect checks: violated
//@ expect deadlock_free: proved

byte a[4];
byte i;

active proctype P() {
	do
	:: i <= 4 -> a[i] = i; i++
	:: else -> break
	od
}
