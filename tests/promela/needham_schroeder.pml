// The public key protocol of Needham and Schroeder as repaired by Lowe: the second message names who answers. The intruder
// takes messages off the net, opens what is meant for it, and sends what it can make.
// Source: G. Lowe, Breaking and fixing the Needham-Schroeder public-key protocol using FDR (1996).
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect bob_talks_to_alice: proved
// SPIN: states: 108

mtype = { first, second, third, alice, bob, eve, nonce_a, nonce_b, nonce_e, nothing };

// kind of message; key it is closed with; two contents; name of the sender in it
chan net = [0] of { mtype, mtype, mtype, mtype, mtype };
mtype partner_of_alice = nothing, partner_of_bob = nothing;
bool alice_done, bob_done;

active proctype Alice() {
	mtype g;
	if
	:: partner_of_alice = bob
	:: partner_of_alice = eve
	fi;
end_begin:
	net!first, partner_of_alice, nonce_a, alice, nothing;
end_second:
	net?second, eval(alice), eval(nonce_a), g, eval(partner_of_alice);
end_third:
	net!third, partner_of_alice, g, nothing, nothing;
	alice_done = true
}

active proctype Bob() {
	mtype g, who;
end_first:
	net?first, eval(bob), g, who, _;
	partner_of_bob = who;
end_second:
	net!second, who, g, nonce_b, bob;
end_third:
	net?third, eval(bob), eval(nonce_b), _, _;
	bob_done = true
}

active proctype Eve() {
	mtype kind, key, x, y, z;
	bool know_a, know_b;
	mtype kept_kind = nothing, kept_key = nothing, kept_x = nothing, kept_y = nothing, kept_z = nothing;
end:	do
	:: net?kind, key, x, y, z ->
		d_step {
			if
			:: key == eve ->
				if
				:: x == nonce_a || y == nonce_a -> know_a = true
				:: else
				fi;
				if
				:: x == nonce_b || y == nonce_b -> know_b = true
				:: else
				fi
			:: else ->
				kept_kind = kind; kept_key = key; kept_x = x; kept_y = y; kept_z = z
			fi;
			kind = 0; key = 0; x = 0; y = 0; z = 0
		}
	:: kept_kind != nothing ->
end_kept:	net!kept_kind, kept_key, kept_x, kept_y, kept_z
	:: know_a ->
end_a:	net!first, bob, nonce_a, alice, nothing
	:: net!first, bob, nonce_e, alice, nothing
	:: know_b ->
end_b:	net!third, bob, nonce_b, nothing, nothing
	od
}

ltl bob_talks_to_alice { [] (bob_done && partner_of_bob == alice -> partner_of_alice == bob) }
