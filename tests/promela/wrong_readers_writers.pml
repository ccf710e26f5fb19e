// Readers and writers, where the first reader takes the writers' semaphore, but the counter of readers is not protected.
//@ expect checks: violated
//@ expect deadlock_free: proved

bool room = true;
byte readers;
byte reading_now, writing_now;

active [2] proctype Reader() {
	do
	:: readers++;
	   if
	   :: readers == 1 -> atomic { room -> room = false }
	   :: else
	   fi;
	   reading_now++;
	   assert(writing_now == 0);
	   reading_now--;
	   readers--;
	   if
	   :: readers == 0 -> room = true
	   :: else
	   fi
	od
}

active proctype Writer() {
	do
	:: atomic { room -> room = false }
	   writing_now++;
	   assert(writing_now == 1);
	   writing_now--;
	   room = true
	od
}
