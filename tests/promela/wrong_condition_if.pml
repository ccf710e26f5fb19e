// A condition variable whose waiter does not look again after it is woken: another consumer was faster.
//@ expect checks: violated

bool lock;
byte fill;
byte waiting, go;

inline acquire() { atomic { !lock -> lock = true } }

active proctype Producer() {
	do
	:: acquire();
	   fill < 2;
	   fill++;
	   atomic {
		if
		:: waiting > 0 -> waiting--; go++
		:: else
		fi
	   }
	   lock = false
	od
}

active [2] proctype Consumer() {
	do
	:: acquire();
	   if
	   :: fill == 0 ->
		atomic { waiting++; lock = false }
		atomic { go > 0; go-- }
		acquire()
	   :: else
	   fi;
	   assert(fill > 0);
	   fill--;
	   lock = false
	od
}
