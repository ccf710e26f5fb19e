// Macros with parameters, conditions and a definition from outside.
// SPIN: define: SIZE=3
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 95

#ifdef SIZE
#define COUNT SIZE
#else
#error SIZE has to be given
#endif
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define TWICE(x) ((x) + (x))
#define STEP(v) v = MAX(v, TWICE(_pid)); \
	counter++

#if COUNT > 2 && defined(SIZE)
#define LIMIT 4
#else
#define LIMIT 99
#endif

byte counter, highest;

active [COUNT] proctype P() {
	STEP(highest);
	assert(highest <= LIMIT)
}

#undef STEP

init {
	counter == COUNT;
	assert(highest == LIMIT || highest < LIMIT)
}
