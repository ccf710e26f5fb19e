// Two processes that update a record in two steps see it half done.
//@ expect checks: violated
//@ expect deadlock_free: proved

typedef Account { short balance; byte version };

Account account;

active [2] proctype Deposit() {
	short old;
	old = account.balance;
	account.balance = old + 10;
	account.version++
}

active proctype Audit() {
	account.version == 2;
	assert(account.balance == 20)
}
