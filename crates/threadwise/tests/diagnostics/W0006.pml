byte x;

active proctype P() {
	x = 1;
	printf("x is %d\n", x)
}
