// Values wrap around as the types have it: byte, short, bit, unsigned.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 24

byte b = 250;
short s = 32766;
bit t = 1;
unsigned u : 3 = 6;
int i = 2147483646;
bool q;

active proctype P() {
	b = b + 10;
	assert(b == 4);
	b = b - 5;
	assert(b == 255);
	b++;
	assert(b == 0);
	b--;
	assert(b == 255);
	s = s + 3;
	assert(s == -32767);
	t = t + 1;
	assert(t == 0);
	u = u + 3;
	assert(u == 1);
	u = u - 2;
	assert(u == 7);
	i++;
	assert(i == 2147483647);
	q = 3;
	assert(q == 1);
	q = 2;
	assert(q == 0)
}
