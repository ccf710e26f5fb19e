// A telephone: messages with and without a number, some of which only the right receiver takes.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect talks: proved
//@ expect always_talks: violated
// SPIN: states: 12

mtype = { dial, tone, busy, talk, hangup };
chan exchange = [0] of { mtype, byte };
mtype state = hangup;

active proctype Caller() {
	byte n;
	do
	:: exchange!dial(_pid);
	   if
	   :: exchange?tone(n) -> exchange!talk(n); exchange!hangup(0)
	   :: exchange?busy(_)
	   fi
	od
}

active proctype Switch() {
	byte who;
	do
	:: exchange?dial(who);
	   state = dial;
	   if
	   :: exchange!tone(who + 1);
	      exchange?talk(eval(who + 1));
	      state = talk;
	      exchange?hangup(0)
	   :: exchange!busy(who)
	   fi;
	   state = hangup
	od
}

ltl talks { [] <> (state == hangup) }
ltl always_talks { [] <> (state == talk) }
