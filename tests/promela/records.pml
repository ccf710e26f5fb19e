// Records with arrays and records in them, as variables, in messages and as parameters of a step.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 13

typedef Point { byte x; byte y };
typedef Shape { Point corner[2]; bool filled; mtype colour };

mtype = { black, white };
Shape shapes[2];
chan line = [1] of { byte, Point };

active proctype Painter() {
	Point p;
	p.x = 1;
	p.y = 2;
	shapes[0].corner[1].x = p.x + p.y;
	shapes[0].colour = white;
	shapes[1].filled = true;
	line!7(p)
}

active proctype Reader() {
	Point q;
	byte k;
	line?k(q);
	assert(k == 7 && q.x == 1 && q.y == 2);
	assert(shapes[0].corner[1].x == 3 && shapes[0].corner[0].y == 0);
	assert(shapes[0].colour == white && shapes[1].filled)
}
