// Formulas with until, weak until and release on a traffic light.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect starts_red: proved
//@ expect weak: violated
//@ expect green_between: proved
//@ expect yellow_first: proved
//@ expect release: proved
//@ expect both: proved
//@ expect implication: violated
//@ expect same: proved
// SPIN: states: 7

mtype = { red, yellow, green };
mtype light = red;
bool ready;

active proctype Light() {
	ready = true;
	do
	:: light == red -> light = green
	:: light == green -> light = yellow
	:: light == yellow -> light = red
	od
}

ltl starts_red { (light == red) U (light == green) }
ltl weak { (light == red) W (light == yellow) }
ltl green_between { [] (light == red -> ((light == red) W (light == green))) }
ltl yellow_first { (light != yellow) U (light == yellow && ready) }
ltl release { (light == green) V (light == red || light == green) }
ltl both { ([] <> (light == red)) && ([] <> (light == green)) }
ltl implication { (<> (light == yellow)) -> ([] (light != green)) }
ltl same { (<> ready) <-> (! ([] !ready)) }
