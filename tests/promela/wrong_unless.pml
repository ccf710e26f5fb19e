// An escape from the middle of a transfer: the two halves of an exchange are not always done together.
//@ expect checks: violated
//@ expect deadlock_free: proved

bool cancelled;
byte debit, credit;
bool finished;

active proctype Transfer() {
	{
		debit++;
		credit++
	} unless {
		cancelled -> skip
	};
	finished = true;
	assert(debit == credit)
}

active proctype Canceller() {
	cancelled = true
}
