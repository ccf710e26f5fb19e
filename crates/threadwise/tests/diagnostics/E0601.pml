byte x;

active proctype P() {
	x = x + ;
	assert(x == 0)
}
