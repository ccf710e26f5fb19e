// Between the look into a queue and the taking another process can be faster.
//@ expect checks: violated

chan q = [2] of { byte };
byte taken;

active proctype Source() {
	q!1
}

active [2] proctype Sink() {
	if
	:: nempty(q) -> assert(len(q) == 1); q?_; taken++
	:: taken > 0
	fi
}
