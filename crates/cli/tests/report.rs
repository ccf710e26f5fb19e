//! The HTML report in a real browser: what it shows, clicks and keys, sizes, colours, and that nothing of a model becomes markup.

use std::path::{Path, PathBuf};

use crate::common::Place;
use crate::common::browser::{Browser, find};
use serde_json::json;

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
/// Set to write the pictures of the book anew.
const PICTURES: &str = "THREADWISE_PICTURES";

/// The name of a model of the library, which [`report`] puts where the binary runs: pages name it.
fn model(name: &str) -> String {
    format!("models/{name}.tw")
}

/// Copies the models of the library that are named.
fn library(place: &Place, args: &[&str]) {
    for name in args.iter().filter(|arg| arg.starts_with("models/")) {
        let text = std::fs::read(Path::new(MODELS).join("..").join(name)).unwrap();
        place.file(name, text);
    }
}

/// Checks a model and writes its report.
fn report(place: &Place, status: i32, args: &[&str]) -> PathBuf {
    library(place, args);
    let mut all = vec!["check", "--report", "report.html"];
    all.extend(args);
    let ran = place.run(&all).expect(status);
    assert!(ran.stderr.contains("report written to report.html"));
    place.path().join("report.html")
}

/// A browser with a page about a model in it.
fn page(place: &Place, status: i32, args: &[&str]) -> Option<Browser> {
    let program = find()?;
    let path = report(place, status, args);
    let mut browser = Browser::start(&program, 1400, 1000);
    browser.open(&path);
    Some(browser)
}

/// What must be so of every page: no complaint, nothing loaded, no id twice, a name for everything that can be used.
fn sound(browser: &mut Browser) {
    browser.assert_quiet();
    let odd =
        "['[object', 'undefined', 'NaN'].filter((text) => document.body.innerText.includes(text))";
    assert_eq!(browser.eval(odd), json!([]));
    for url in &browser.requests {
        let own = url.starts_with("file://") && url.contains("/report.html");
        assert!(
            own || url.starts_with("data:") || url == "about:blank",
            "{url}"
        );
    }
    let twice = "(() => { const ids = [...document.querySelectorAll('[id]')].map((node) => node.id); return ids.filter((id, at) => ids.indexOf(id) !== at); })()";
    assert_eq!(browser.eval(twice), json!([]));
    let nameless = "[...document.querySelectorAll('button, a, input, [role=listbox], [role=region], summary')].filter((node) => \
        !(node.innerText || node.textContent || node.getAttribute('aria-label') || node.closest('label'))).map((node) => node.outerHTML)";
    assert_eq!(browser.eval(nameless), json!([]));
}

#[test]
fn a_violation_in_swim_lanes() {
    let place = Place::new();
    let Some(mut browser) = page(&place, 1, &[&model("mux_sem_try")]) else {
        return;
    };
    assert!(browser.text("h1").ends_with("mux_sem_try.tw"));
    let table = browser.text(".verdicts tbody");
    assert!(table.contains("mutex") && table.contains("✗ violated") && table.contains("at N=2"));
    assert!(
        table.contains("✓ proved") && table.contains("for all N >= 2"),
        "{table}"
    );
    // What is wrong is shown first.
    assert!(browser.text("#detail h2").contains("mutex"));
    assert!(
        browser
            .text("#detail")
            .contains("invariant mutex: forall i, j in P")
    );
    let head = browser.text(".lanes .head");
    assert!(
        head.contains("P[1]") && head.contains("P[2]") && head.contains("shared"),
        "{head}"
    );
    assert_eq!(browser.count(".lanes .row"), 5);
    assert!(browser.text(".lanes .ends").contains("mutex does not hold"));
    assert_eq!(browser.text(".lanes .row[aria-selected=true] .number"), "4");
    // Each process has a lane of its own.
    let columns = "[1, 2].map((at) => document.querySelector(`.lanes .row[data-step='${at}'] .move`).getBoundingClientRect().left)";
    let columns = browser.eval(columns);
    assert!(
        columns[0].as_f64().unwrap() + 50.0 < columns[1].as_f64().unwrap(),
        "{columns}"
    );

    // A click shows the whole state, what changed marked.
    browser.click(".lanes .row[data-step='3']");
    assert_eq!(browser.text(".side h3"), "The state after step 3");
    let state = browser.text(".state");
    for cell in ["y[1]", "y[2]", "P[1]", "P[2]"] {
        assert!(state.contains(cell), "{state}");
    }
    assert_eq!(browser.text(".state mark"), "enter");
    // So does the source: the line of the step, and who is where.
    assert_eq!(browser.text(".source .line.here .number"), "23");
    assert!(browser.text("#line-24").contains("P[2]"));
    assert!(browser.text("#line-23").contains("P[1]"));

    // Keys.
    browser.key("ArrowDown");
    assert_eq!(browser.text(".side h3"), "The state after step 4");
    browser.key("k");
    browser.key("k");
    assert_eq!(browser.text(".side h3"), "The state after step 2");
    browser.key("p");
    assert_eq!(
        browser.text(".side h3"),
        "The state after step 2",
        "no step of P[2] before"
    );
    browser.key("Home");
    assert_eq!(browser.text(".side h3"), "The initial state");
    browser.key("End");
    assert_eq!(browser.text(".side h3"), "The state after step 4");
    browser.key("p");
    assert_eq!(browser.text(".side h3"), "The state after step 1");

    // A step leads to its line.
    browser.click(".lanes .row[data-step='4'] .at a");
    assert_eq!(browser.text(".source .line.shown .number"), "23");

    // Only what P[1] does.
    browser.click("[data-menu=processes] > summary");
    browser.click("[data-menu=processes] label:nth-child(2) input");
    assert!(!browser.text(".lanes .head").contains("P[2]"));
    assert!(
        browser
            .text(".lanes")
            .contains("2 steps of processes that are not shown")
    );
    assert_eq!(browser.count(".lanes .row[data-step]"), 3);
    // And without the variable.
    browser.click("[data-menu=variables] > summary");
    browser.click("[data-menu=variables] label input");
    assert!(!browser.text(".state").contains("y[1]"));

    // The control flow, walked.
    browser.eval("document.querySelectorAll('details').forEach((node) => { node.open = true; })");
    assert_eq!(browser.count("svg .node"), 5, "done is never reached");
    assert_eq!(browser.count("svg .edge"), 5);
    assert_eq!(browser.count("svg .edge.walked"), 2);
    assert_eq!(browser.count("svg .edge.here"), 1);

    // The other properties, by key and by click.
    browser.key("]");
    browser.wait("document.querySelector('#detail h2').innerText.includes('deadlock_free')");
    browser.click(".verdicts tbody tr:first-child a");
    browser.wait("document.querySelector('#detail h2').innerText.includes('checks')");
    // Help.
    browser.key("?");
    assert_eq!(
        browser.eval("document.querySelector('dialog').open"),
        json!(true)
    );
    browser.click("dialog button");
    assert_eq!(
        browser.eval("document.querySelector('dialog').open"),
        json!(false)
    );
    sound(&mut browser);
}

#[test]
fn a_proof_with_its_assertions() {
    let place = Place::new();
    let args = [&model("mux_sem_last"), "--set", "N=4", "--engine", "split"];
    let args = [
        args[0],
        args[1],
        args[2],
        args[3],
        args[4],
        "--property",
        "mutex",
    ];
    let Some(mut browser) = page(&place, 0, &args) else {
        return;
    };
    browser.click(".verdicts tbody tr:nth-child(2) a");
    browser.wait("document.querySelector('#detail h2').innerText.includes('mutex')");
    let detail = browser.text("#detail");
    assert!(detail.contains("x || last != none"), "{detail}");
    assert!(detail.contains("That is the whole invariant"));
    // The assertions stand above the labels that they belong to.
    let above = "(() => { const line = [...document.querySelectorAll('.source .line')].find((node) => node.innerText.includes('critical: skip')); return line.previousSibling.innerText; })()";
    let above = browser.eval(above);
    assert_eq!(above, json!("P[i] at critical: !x && last == i"));
    assert_eq!(browser.count("svg .node .holds"), 4);
    sound(&mut browser);
}

/// Of a step that changes what is the process's own, the new values stand in its box.
#[test]
fn what_is_local_is_in_the_lane() {
    let place = Place::new();
    let text = "\
shared x: 0..9 = 0;
process P[i: 1..2] {
    local k: 0..9 = 0;
    loop {
        read:  k := x;
        write: x := (k + 1) % 10;
    }
}
invariant small: x < 3;
";
    place.file("count.tw", text);
    let Some(mut browser) = page(&place, 1, &["count.tw"]) else {
        return;
    };
    let marks = browser
        .eval("[...document.querySelectorAll('.lanes .move mark')].map((node) => node.innerText)");
    let marks = marks.as_array().unwrap();
    assert!(!marks.is_empty());
    for mark in marks {
        let mark = mark.as_str().unwrap();
        assert!(mark.contains(" = ") && !mark.contains("P["), "{mark}");
    }
    sound(&mut browser);
}

/// An assertion of several facts is one expression: what binds loosely is in parentheses, as `--explain` writes it.
#[test]
fn assertions_are_expressions() {
    let place = Place::new();
    let text = "\
shared a, b, c: bool = false;
process P {
    one:  choose { a := true; } or { b := true; } or { atomic { a, b := true, true; } }
    two:  c := true;
    last: skip;
}
invariant some: P at last -> c && (a || b);
";
    place.file("facts.tw", text);
    let Some(mut browser) = page(&place, 0, &["facts.tw", "--engine", "split"]) else {
        return;
    };
    let shown = place.run(&["check", "facts.tw", "--engine", "split", "--explain"]);
    let shown = shown.expect(0).stdout;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(&shown);
    browser.click(".verdicts tbody tr:nth-child(2) a");
    browser.wait("document.querySelector('#detail h2').innerText.includes('some')");
    let facts = browser
        .eval("[...document.querySelectorAll('.source .fact')].map((node) => node.innerText)");
    let facts = facts.as_array().unwrap();
    assert!(facts.len() >= 3, "{facts:?}");
    let mut several = 0;
    for fact in facts {
        let fact = words(fact.as_str().unwrap());
        let (_, assertion) = fact.split_once(": ").unwrap();
        assert!(shown.contains(assertion), "{assertion} is not in {shown}");
        several += usize::from(assertion.contains(" && (") || assertion.contains(") && "));
    }
    assert!(several > 0, "no fact needs parentheses: {facts:?}");
    sound(&mut browser);
}

#[test]
fn a_refinement_round_by_round() {
    let place = Place::new();
    let Some(mut browser) = page(
        &place,
        0,
        &[
            &model("mux_sem_short"),
            "--set",
            "N=3",
            "--engine",
            "split",
            "--only",
            "safety",
        ],
    ) else {
        return;
    };
    browser.click(".verdicts tbody tr:nth-child(2) a");
    browser.wait("document.querySelector('#detail h2').innerText.includes('mutex')");
    let detail = browser.text("#detail");
    assert!(detail.contains("Auxiliary predicates"), "{detail}");
    assert!(detail.contains("P[j] at leave"), "{detail}");
    assert!(detail.contains("round 1"), "{detail}");
    assert_eq!(browser.count("#detail ol li"), 1);
    // A bar and a dot for the round.
    assert_eq!(browser.count("svg .bar"), 1);
    assert_eq!(browser.count("svg .dot"), 1);
    sound(&mut browser);
}

#[test]
fn a_proof_for_all_with_counters() {
    let place = Place::new();
    let Some(mut browser) = page(&place, 0, &[&model("any/fkp2014")]) else {
        return;
    };
    let detail = browser.text("#detail");
    assert!(detail.contains("for all N >= 1"), "{detail}");
    assert!(detail.contains("s == #done") && detail.contains("t == #l1 + #done"));
    assert!(
        detail.contains("how many processes are at l1 (line "),
        "{detail}"
    );
    assert!(
        detail.contains("how many processes are at done: they have ended"),
        "{detail}"
    );
    sound(&mut browser);
}

#[test]
fn a_liveness_proof_for_all_deletion_by_deletion() {
    let place = Place::new();
    let args = [&model("mux_sem"), "--property", "access"];
    let Some(mut browser) = page(&place, 0, &args) else {
        return;
    };
    let detail = browser.text("#detail");
    assert!(detail.contains("for all N >= 2"), "{detail}");
    assert!(detail.contains("Why no run goes against it"), "{detail}");
    assert!(browser.count("ol.deletions > li") >= 4, "{detail}");
    let list = browser.text("ol.deletions");
    assert!(list.contains("By the fairness `entry`"), "{list}");
    let deletions = browser.count("ol.deletions > li > code");
    assert_eq!(deletions, browser.count("ol.deletions > li"), "{list}");
    assert!(detail.contains("Suppose P[i] waits for ever"), "{detail}");
    assert!(
        detail.contains("Nothing is left that a fair run could do for ever"),
        "{detail}"
    );
    assert!(
        detail.contains("how many processes are at critical (line "),
        "{detail}"
    );
    sound(&mut browser);
}

#[test]
fn what_a_proof_for_all_lacks() {
    let place = Place::new();
    let text = "param N = 2 where N >= 1;\nshared c: int = 0;\nprocess P[i: 1..N] { add: c := c + 1; }\ninvariant small: c <= 60;\n";
    place.file("add.tw", text);
    let Some(mut browser) = page(&place, 3, &["add.tw", "--property", "small"]) else {
        return;
    };
    let detail = browser.text("#detail");
    assert!(
        detail.contains("Missing for a proof: After add of P[i], small may fail."),
        "{detail}"
    );
    assert!(detail.contains("As in: P[i] at add, c == 60"), "{detail}");
    sound(&mut browser);
}

#[test]
fn a_lasso_as_a_loop() {
    let place = Place::new();
    let args = [&model("dining"), "--set", "N=3", "--property", "unassisted"];
    let Some(mut browser) = page(&place, 1, &args) else {
        return;
    };
    assert!(browser.text("#detail h2").contains("unassisted"));
    assert!(browser.text(".lanes .loop .turn").contains("for ever"));
    assert!(browser.count(".lanes .loop .row") >= 3);
    let chips = browser.count(".lanes .loop .chip.fair");
    assert_eq!(chips, 3, "each philosopher is scheduled somewhere");
    assert_eq!(browser.count(".lanes > .row .chip.fair"), 0);
    let detail = browser.text("#detail");
    assert!(
        detail.contains("Why the run is fair: 1 assumption met"),
        "{detail}"
    );
    assert!(detail.contains("back to the state after step"), "{detail}");
    sound(&mut browser);
}

/// Names with a dot that are nobody's: fields of shared records, and the lengths of queues.
#[test]
fn fields_of_shared_records_are_in_the_state() {
    let place = Place::new();
    let text = "record Pair { low: 0..3, high: bool }\nshared pair: Pair = Pair(1, false);\nshared calls: queue[2] of Pair;\n\
        process P[i: 1..2] { local k: 0..3 = 2; put: send(calls, pair); set: pair.low := k; }\ninvariant untouched: pair.low != 2;\n";
    place.file("fields.tw", text);
    let args = ["fields.tw", "--engine", "explicit"];
    let Some(mut browser) = page(&place, 1, &args) else {
        return;
    };
    let state = browser.text(".state");
    for name in ["pair.low", "pair.high", "calls.length", "calls.low[0]", "k"] {
        assert!(state.contains(name), "{name} in {state}");
    }
    sound(&mut browser);
}

/// A run of 10,000 steps, and one among a hundred processes: both are there at once, and every step can be reached.
#[test]
fn large_runs() {
    let place = Place::new();
    // What the first step alone changes is known at the end, too.
    let text = "shared x: 0..10000 = 0;\nshared begun: bool = false;\nprocess P { loop { up: atomic { await x < 10000; x := x + 1; begun := true; } } }\ninvariant small: x < 10000;\n";
    place.file("long.tw", text);
    let args = ["long.tw", "--engine", "explicit"];
    let Some(mut browser) = page(&place, 1, &args) else {
        return;
    };
    let nodes = browser.eval("document.querySelectorAll('*').length");
    assert!(nodes.as_u64().unwrap() < 8_000, "{nodes} elements");
    assert_eq!(browser.text(".side h3"), "The state after step 10000");
    let state = browser.text(".state");
    assert!(state.contains("10000") && state.contains("true"), "{state}");
    let folds = browser.count(".lanes .fold");
    assert!(folds > 30, "{folds} folds");
    browser.click(".lanes .fold");
    assert_eq!(browser.count(".lanes .fold"), folds - 1);
    assert_eq!(browser.text(".side h3"), "The state after step 61");
    // Into a fold by key.
    browser.eval("document.querySelector('.lanes').focus()");
    browser.key("End");
    for _ in 0..15 {
        browser.key("PageUp");
    }
    assert_eq!(browser.text(".side h3"), "The state after step 9850");
    let took = "(() => { const begin = performance.now(); const lanes = document.querySelector('.lanes'); for (let at = 0; at < 50; at += 1) \
        lanes.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' })); return (performance.now() - begin) / 50; })()";
    let took = browser.eval(took).as_f64().unwrap();
    println!("{took:.1} ms a step back from step 9850");
    assert_eq!(browser.text(".side h3"), "The state after step 9800");
    sound(&mut browser);

    let place = Place::new();
    let args = [
        &model("mux_sem_try"),
        "--set",
        "N=100",
        "--property",
        "mutex",
    ];
    let mut browser = page(&place, 1, &args).unwrap();
    let shown = browser.text("[data-menu=processes] > summary");
    assert_eq!(shown, "processes: 2 of 100", "those that move");
    assert!(browser.text(".source").contains("98 processes"));
    browser.click("[data-menu=processes] > summary");
    browser.click("[data-menu=processes] button");
    assert_eq!(
        browser.text("[data-menu=processes] > summary"),
        "processes: 100 of 100"
    );
    assert_eq!(browser.count(".lanes .head span"), 103);
    assert!(browser.text(".state").contains("P[100]"));
    browser.eval("document.querySelector('.side input').focus()");
    browser.type_text("P[77]");
    assert_eq!(browser.count(".state tr"), 1);
    sound(&mut browser);
}

/// Nothing of a model, its name or its comments becomes markup or script.
#[test]
fn markup_in_a_model_is_text() {
    let place = Place::new();
    let text = "// </script><script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\"> <!-- ]]> &lt;b&gt;\n\
                // \u{2028}\u{2029}\u{202e} \u{0}\n\
                shared __proto__: bool = false; // <svg onload=alert(1)>\n\
                shared constructor: 0..3 = 0;\n\
                process toString { a: __proto__ := true; b: constructor := 2; }\n\
                invariant hasOwnProperty: constructor < 2; // ${alert(1)} {{7*7}} `javascript:alert(1)`\n"
        .replace('\u{0}', "");
    place.file("<img src=x onerror=alert(1)>&amp;.tw", &text);
    let name = "<img src=x onerror=alert(1)>&amp;.tw";
    let Some(mut browser) = page(&place, 1, &[name]) else {
        return;
    };
    assert_eq!(browser.text("h1"), name);
    assert_eq!(browser.count("img"), 0);
    assert_eq!(browser.count("script"), 2, "the page's own");
    let title = browser.eval("document.title");
    assert_eq!(title, json!("hasOwnProperty: violated – threadwise"));
    assert!(browser.text("#line-1").contains("</script><script>"));
    let state = browser.text(".state");
    assert!(
        state.contains("__proto__\ttrue") && state.contains("constructor\t2"),
        "{state}"
    );
    // The policy of the page keeps out what would get in all the same.
    let evil = "(() => { const node = document.createElement('script'); node.textContent = 'document.title = \"taken\"'; document.body.append(node); return document.title; })()";
    assert_ne!(browser.eval(evil), json!("taken"));
    assert!(
        browser
            .complaints
            .iter()
            .any(|text| text.contains("Content Security Policy"))
    );
    let evil = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')";
    assert_eq!(browser.eval(evil), json!("refused"));
}

/// In light and dark every text can be told from its ground, and a phone needs no sideways scrolling.
#[test]
fn light_and_dark_and_on_a_phone() {
    let place = Place::new();
    let args = [&model("mux_sem_unfair"), "--set", "N=3"];
    let Some(mut browser) = page(&place, 1, &args) else {
        return;
    };
    // Contrast as the Web Content Accessibility Guidelines define it.
    let worst = "(() => { \
        const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; }; \
        const numbers = (text) => text.match(/[\\d.]+/g).map(Number); \
        const ground = (node) => { for (; node; node = node.parentElement) { const c = numbers(getComputedStyle(node).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; }; \
        let worst = [99, '']; let seen = 0; \
        for (const node of document.querySelectorAll('main *')) { \
            if (![...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim()) || !node.getClientRects().length) continue; \
            const svg = node instanceof SVGElement; const style = getComputedStyle(node); \
            const own = numbers(svg ? style.fill : style.color); \
            const under = svg ? ground(node.closest('svg').parentElement) : ground(node); \
            const [a, b] = [light(own), light(under)]; const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); seen += 1; \
            if (contrast < worst[0]) worst = [contrast, node.outerHTML.slice(0, 200)]; } \
        return [worst[0], worst[1], seen]; })()";
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let found = browser.eval(worst);
        assert!(found[2].as_u64().unwrap() > 100, "{found}");
        assert!(found[0].as_f64().unwrap() >= 4.5, "{scheme}: {found}");
    }
    // The button turns it round.
    let ground = "getComputedStyle(document.body).backgroundColor";
    let dark = browser.eval(ground);
    browser.click(".top .end button:last-child");
    assert_ne!(browser.eval(ground), dark);

    browser.resize(390, 844, true);
    let wide = browser.eval("document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= 390, "{wide} wide");
    browser.click(".verdicts tbody tr:first-child a");
    browser.wait("document.querySelector('#detail h2').innerText.includes('checks')");
    let wide = browser.eval("document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= 390, "{wide} wide");
    sound(&mut browser);
}

/// The pictures of the book: made here, and written there on request.
#[test]
fn pictures() {
    let dining = model("dining");
    let cases: [(&str, i32, Vec<String>, &str, u32); 4] = [
        ("violation", 1, vec![model("mux_sem_try")], "", 1000),
        (
            "proof",
            0,
            [model("mux_sem_last")].to_vec(),
            "location.hash = '1.3'",
            1250,
        ),
        ("all", 0, vec![model("any/fkp2014")], "", 1000),
        (
            "lasso",
            1,
            [&dining, "--set", "N=3", "--property", "unassisted"]
                .map(str::to_owned)
                .to_vec(),
            "document.querySelector('.lanes').previousSibling",
            1050,
        ),
    ];
    for (name, status, args, then, height) in cases {
        let place = Place::new();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Some(mut browser) = page(&place, status, &args) else {
            return;
        };
        browser.resize(1400, height, false);
        browser.eval(then);
        browser.eval(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
        let picture = browser.screenshot();
        assert!(picture.starts_with(b"\x89PNG"), "{name}");
        // The width and the height are where the format has them; a page without content is much smaller.
        assert_eq!(picture[16..20], 1400u32.to_be_bytes(), "{name}");
        assert!(picture.len() > 40_000, "{name}: {} bytes", picture.len());
        sound(&mut browser);
        if std::env::var_os(PICTURES).is_some() {
            let into = Path::new(MODELS).join("../docs/book/src/images");
            std::fs::create_dir_all(&into).unwrap();
            std::fs::write(into.join(format!("report-{name}.png")), picture).unwrap();
        }
    }
}

/// Without a browser: the page has everything in it, and bad names are refused.
#[test]
fn a_report_is_one_file() {
    let place = Place::new();
    let path = report(&place, 1, &[&model("mux_sem_try"), "--quiet"][..1]);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>"));
    for outside in ["http://", "https://", "src="] {
        let found = text
            .match_indices(outside)
            .map(|(at, _)| &text[at..at + 30]);
        let found: Vec<&str> = found
            .filter(|t| !t.contains("www.w3.org/2000/svg"))
            .collect();
        assert!(found.is_empty(), "{found:?}");
    }
    // For browsers without scripts.
    let plain = text.split("<noscript>").nth(1).unwrap();
    assert!(plain.contains("mutex  violated  at N=2"));

    let ran = place.run(&[
        "check",
        &model("mux_sem_try"),
        "--report",
        "no/such/place.html",
    ]);
    let ran = ran.expect(2);
    assert!(
        ran.stderr.contains("the report cannot be written"),
        "{}",
        ran.stderr
    );
    // A model is not overwritten.
    let own = model("mux_sem_try");
    let before = std::fs::read(place.path().join(&own)).unwrap();
    let ran = place.run(&["check", &own, "--report", &own]).expect(2);
    assert!(ran.stderr.contains("it is a model"), "{}", ran.stderr);
    assert_eq!(std::fs::read(place.path().join(&own)).unwrap(), before);
    // A file with errors has a page, too.
    place.file("wrong.tw", "shared x: bool = 3;\n");
    place
        .run(&["check", "wrong.tw", "--report", "wrong.html"])
        .expect(2);
    let text = std::fs::read_to_string(place.path().join("wrong.html")).unwrap();
    assert!(text.contains("wrong.tw"));
}
