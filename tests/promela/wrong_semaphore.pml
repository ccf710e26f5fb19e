// A semaphore that two processes take in two steps, and that two others of another kind give back twice.
//@ expect checks: violated
//@ expect valid_end_states: proved

byte count = 1;
byte inside;

inline P(s) { s > 0; s-- }
inline V(s) { s++ }

active [2] proctype User() {
end:	do
	:: P(count);
	   inside++;
	   assert(inside == 1);
	   inside--;
	   if
	   :: count == 0 -> V(count)
	   :: count > 0 -> break
	   fi
	od
}
