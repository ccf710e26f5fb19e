/* What included_turns.pml includes. */
#define TURNS 3
inline take_turn(mine, next) {
	turn == mine;
	taken++;
	turn = next
}
