// A never claim: a request that is not answered. The server answers every request, so the claim has no run.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect never: proved
// SPIN: states: 5

bool request, answer;

active proctype Client() {
	do
	:: request = true;
	   answer;
	   d_step { request = false; answer = false }
	od
}

active proctype Server() {
	do
	:: request && !answer -> answer = true
	od
}

never {
	do
	:: true
	:: request && !answer -> break
	od;
accept:
	do
	:: !answer
	od
}
