"use strict";
// The explorer: a walk through a program, what can be done at its end, and what holds there. The server knows no walk; this page
// sends the one it is about, and its address has it, so that it can be kept and given to others.
(() => {
    const { el, plural, entries, together, clip, Walk, lanes, statePanel, sourcePane, graph, projection, templateOf, themeButton, helpButton, toLine } = viewer;
    const data = JSON.parse(document.getElementById("data").textContent);
    const file = data.file;

    // What is walked: `at` is where we are; what comes after it can be taken again until another step is taken.
    let values = data.values, initial = "0", choices = [], at = 0;
    // What is known of it: the first state and the steps.
    let first = null, steps = [];
    let look = null, chosen = 0, loop = null, watched = [], note = "", turn = 0;

    async function ask(what, more) {
        const response = await fetch(`api/${what}`, {
            method: "POST", headers: { "Content-Type": "application/json" }, credentials: "omit", cache: "no-store",
            body: JSON.stringify({ model: data.model, values, ...more }),
        });
        const answer = await response.json().catch(() => ({ refused: `the explorer answered ${response.status}` }));
        if (answer.refused !== undefined) throw new Error(answer.refused);
        return answer;
    }

    // ---- the address ----

    /** Choices as text: `2` for the first thing that process 2 can do, `2.1` for the second, `2-` for no step; `2*5` for five times. */
    function written(list) {
        const parts = [];
        for (const [process, what] of list) {
            const text = what === null ? `${process}-` : what === 0 ? `${process}` : `${process}.${what}`;
            const last = parts[parts.length - 1];
            if (last && last[0] === text) last[1] += 1;
            else parts.push([text, 1]);
        }
        return parts.map(([text, times]) => (times === 1 ? text : `${text}*${times}`)).join("_");
    }

    function read(text) {
        const list = [];
        for (const part of text.split("_")) {
            if (part === "") continue;
            const found = /^(\d{1,9})(-|\.(\d{1,9}))?(?:\*(\d{1,5}))?$/.exec(part);
            if (!found) throw new Error(`the address has a walk that cannot be read, at ${clip(part, 20)}`);
            const what = found[2] === "-" ? null : Number(found[3] || 0);
            for (let times = Number(found[4] || 1); times > 0 && list.length < 20000; times -= 1) list.push([Number(found[1]), what]);
        }
        return list;
    }

    function address() {
        const parts = new URLSearchParams();
        for (const [name, value] of entries(values)) parts.append("set", `${name}=${value}`);
        if (initial !== "0") parts.set("from", initial);
        if (choices.length) parts.set("walk", written(choices));
        if (at !== choices.length) parts.set("at", at);
        if (loop !== null) parts.set("loop", loop);
        for (const text of watched) parts.append("watch", text);
        parts.set("model", data.model);
        return `#${parts}`;
    }

    function arrive() {
        const parts = new URLSearchParams(location.hash.slice(1));
        watched = parts.getAll("watch").slice(0, 50);
        if (!parts.has("model")) {
            if (data.begin) show(data.begin);
            return;
        }
        const given = parts.getAll("set").map((pair) => [pair.slice(0, pair.indexOf("=")), Number(pair.slice(pair.indexOf("=") + 1))]);
        values = Object.fromEntries(given.filter(([name, value]) => data.params.includes(name) && Number.isSafeInteger(value)));
        for (const [name, value] of entries(data.values)) if (!Object.hasOwn(values, name)) values[name] = value;
        initial = /^\d{1,39}$/.test(parts.get("from") || "") ? parts.get("from") : "0";
        choices = read(parts.get("walk") || "");
        const within = (text) => Math.min(Math.max(0, Math.trunc(Number(text)) || 0), choices.length);
        at = parts.has("at") ? within(parts.get("at")) : choices.length;
        loop = parts.has("loop") ? within(parts.get("loop")) : null;
        if (parts.get("model") !== data.model) note = "The model is not the one that this walk was made with: it may lead elsewhere.";
    }

    // ---- what is known ----

    /** Asks where the walk leads. The last question counts if several are under way. */
    async function refresh() {
        const mine = (turn += 1);
        busy(true);
        try {
            // To the end first, if steps are missing; then to where we are.
            if (first === null || steps.length < choices.length) {
                const known = first === null ? 0 : steps.length;
                const whole = await ask("state", { walk: { initial, choices }, known });
                if (mine !== turn) return;
                if (whole.initial) first = whole.initial;
                steps = steps.slice(0, whole.known).concat(whole.steps);
                if (whole.error) {
                    note = whole.error;
                    choices = choices.slice(0, whole.length);
                    at = Math.min(at, choices.length);
                    loop = null;
                }
            }
            const answer = await ask("state", { walk: { initial, choices: choices.slice(0, at) }, known: at, watch: watched });
            if (mine !== turn) return;
            look = answer;
        } catch (error) {
            if (mine !== turn) return;
            look = null;
            note = error.message;
        } finally {
            if (mine === turn) busy(false);
        }
        // Browsers refuse it if it comes too often: the next one will do.
        try { history.replaceState(null, "", address()); } catch { /* see above */ }
        draw();
    }

    function take(option) {
        // An option of a state that has been left means another step here.
        if (!option || !look || !look.options.includes(option)) return;
        if (option.fails) { say(`${option.process} cannot go on: ${option.fails}`); return; }
        const same = at < choices.length && choices[at][0] === option.choice[0] && choices[at][1] === option.choice[1];
        if (!same) {
            choices = choices.slice(0, at).concat([option.choice]);
            steps = steps.slice(0, at);
            loop = null;
        }
        at += 1;
        chosen = 0;
        note = "";
        look = null;
        refresh();
    }

    function go(to) {
        if (to < 0 || to > choices.length || to === at) return;
        at = to;
        chosen = 0;
        note = "";
        look = null;
        refresh();
    }

    function restart(fresh) {
        choices = [];
        steps = [];
        first = null;
        at = 0;
        chosen = 0;
        loop = null;
        note = fresh || "";
        look = null;
        refresh();
    }

    /** Goes where a trace leads. */
    function show(shown) {
        values = shown.values;
        initial = shown.walk.initial;
        choices = shown.walk.choices;
        loop = shown.loop_from;
        first = null;
        steps = [];
        at = choices.length;
        chosen = 0;
        look = null;
        note = shown.property ? `A run that violates ${shown.property}.` : "";
    }

    // ---- the page ----

    const status = el("p", { role: "status", id: "status" });
    const say = (text) => { status.textContent = text; };
    const busy = (on) => document.body.toggleAttribute("aria-busy", on);
    const undo = el("button", { type: "button", id: "undo", onclick: () => go(at - 1) }, "undo");
    const redo = el("button", { type: "button", id: "redo", onclick: () => go(at + 1) }, "redo");
    const again = el("button", { type: "button", id: "restart", onclick: () => restart() }, "restart");
    const share = el("button", { type: "button", id: "share", onclick: copy }, "copy address");
    const find = el("button", { type: "button", id: "check", onclick: check }, "find violations");
    const loader = el("input", { type: "file", id: "load", accept: ".json,application/json", "aria-label": "load a trace", onchange: load });
    const fields = el("form", { class: "tools", onsubmit: (event) => { event.preventDefault(); set(); } });
    const inputs = new Map();
    const start = el("input", { type: "text", id: "initial", inputmode: "numeric", size: 6, "aria-label": "number of the initial state" });
    const startLabel = el("label", { hidden: true }, "initial state ", start);
    const left = el("div"), place = el("div"), tools = el("div");
    const options = el("ol", { id: "options", role: "listbox", tabindex: "0", "aria-label": "steps that can be taken" });
    const optionsTitle = el("h2", {}, "Next");
    const filter = el("input", { type: "search", id: "filter", placeholder: "filter: P[2], critical", "aria-label": "show only steps with this in them", oninput: () => { chosen = 0; drawOptions(); }, onkeydown: (event) => { if (event.key === "Enter") take(listed()[chosen]); } });
    const standing = el("div", { id: "properties" });
    const watches = el("div", { id: "watches" });
    const found = el("div", { id: "found" });
    const program = sourcePane(file);
    const graphs = el("details", { id: "graphs" }, el("summary", {}, "Control flow"));
    const watchInput = el("input", { type: "text", id: "watch", placeholder: "watch: x + 1, exists i in P: P[i] at critical", "aria-label": "an expression to watch", autocomplete: "off", spellcheck: "false" });
    const watchForm = el("form", { onsubmit: (event) => { event.preventDefault(); watch(); } }, watchInput);

    for (const name of data.params) {
        const input = el("input", { type: "text", inputmode: "numeric", size: 5, id: `set-${name}`, "aria-label": `parameter ${name}` });
        inputs.set(name, input);
        fields.append(el("label", {}, `${name} = `, input));
    }
    if (data.params.length) fields.append(el("button", { type: "submit", id: "set" }, "set"));
    fields.append(startLabel);
    start.addEventListener("change", () => { initial = start.value.trim() || "0"; restart(); });

    function set() {
        const next = Object.create(null);
        for (const [name, input] of inputs) {
            if (!/^-?\d{1,15}$/.test(input.value.trim())) { say(`${name} must be a number`); return; }
            next[name] = Number(input.value.trim());
        }
        values = next;
        initial = "0";
        // What was found is about other values.
        found.replaceChildren();
        restart();
    }

    function watch() {
        const text = watchInput.value.trim();
        if (!text || watched.includes(text) || watched.length >= 50) return;
        watched.push(text);
        watchInput.value = "";
        refresh();
    }

    async function copy() {
        const text = location.href;
        try {
            await navigator.clipboard.writeText(text);
            say("The address is copied: what comes after # is the walk. In another explorer of the same model, it shows the same.");
        } catch {
            say("This browser does not let the page copy: take the address from its address bar.");
        }
    }

    async function check() {
        find.disabled = true;
        found.replaceChildren(el("p", {}, `Checking, for ${data.seconds} seconds a property at most …`));
        try {
            const answer = await ask("check", {});
            found.replaceChildren(el("table", {}, el("tbody", {}, answer.results.map((result) => el("tr", {},
                el("th", { scope: "row", class: "code" }, result.property),
                el("td", {}, el("span", { class: `badge ${result.verdict}` }, result.verdict)),
                el("td", {}, result.shown ? el("button", { type: "button", "data-shows": result.property, onclick: () => { show(result.shown); refresh(); } },
                    `show the run of ${plural(result.shown.walk.choices.length, "step")}`) : result.reason || ""))))));
        } catch (error) {
            found.replaceChildren(el("p", {}, error.message));
        }
        find.disabled = false;
    }

    async function load() {
        const given = loader.files[0];
        if (!given) return;
        try {
            const trace = JSON.parse(await given.text());
            show(await ask("trace", { trace }));
            refresh();
        } catch (error) {
            say(`This trace cannot be shown: ${error.message}`);
        }
        loader.value = "";
    }

    function optionRow(option, position) {
        const { step } = option;
        const changes = step ? entries(step.changes) : [];
        const started = step ? entries(step.started).map(([name]) => name) : [];
        const move = option.fails ? `at ${option.from} fails: ${option.fails}` : step.rest ? `rests at ${step.from}` : `${step.from} → ${step.to}`;
        return el("li", {
            role: "option", id: `option-${position}`, class: "option", "aria-selected": position === chosen ? "true" : "false", "data-process": option.process,
            onclick: () => { chosen = position; take(option); },
        }, el("span", { class: "chip" }, option.process), " ", el("span", { class: option.fails ? "code fails" : step.rest ? "code soft" : "code" }, move), " ",
            started.length ? `starts ${together(started)} ` : null,
            changes.slice(0, 8).flatMap(([name, value]) => [el("mark", { class: "code" }, `${name} = ${value}`), " "]),
            changes.length > 8 ? `and ${changes.length - 8} more ` : null,
            option.line ? el("a", { href: `#line-${option.line}`, class: "soft", tabindex: "-1", onclick: (event) => { event.preventDefault(); event.stopPropagation(); toLine(option.line); } }, `line ${option.line}`) : null);
    }

    const MOST = 100;
    /** The steps that the filter admits. */
    function listed() {
        const wanted = filter.value.trim();
        // Resting leads nowhere: it comes last, so that Enter takes a step.
        const all = look ? [...look.options].sort((one, other) => Number(Boolean(one.step && one.step.rest)) - Number(Boolean(other.step && other.step.rest))) : [];
        return all.filter(({ process, from, step, fails }) => !wanted || [process, from, step && step.to, step && step.rest && "rests", fails].some((text) => text && text.includes(wanted)));
    }

    function drawOptions() {
        const list = listed();
        chosen = Math.min(chosen, Math.max(0, list.length - 1));
        filter.hidden = !look || (look.options.length <= 12 && !filter.value);
        const shown = list.slice(0, Math.max(MOST, chosen + 1));
        options.replaceChildren(...shown.map(optionRow));
        if (list.length > shown.length || (look && look.more)) options.append(el("li", { class: "soft" }, `and ${list.length - shown.length + look.more} more`));
        options.setAttribute("aria-activedescendant", list.length ? `option-${chosen}` : "");
        optionsTitle.textContent = !look ? "Next" : look.deadlock ? "Deadlock: no process can go on" : look.ended ? "All processes have ended" : `Next: ${plural(look.options.length + look.more, "step")}`;
        optionsTitle.classList.toggle("bad", Boolean(look && look.deadlock));
        const node = document.getElementById(`option-${chosen}`);
        if (node) node.scrollIntoView({ block: "nearest" });
    }

    function pick(by) {
        const list = listed();
        if (!list.length) return;
        chosen = Math.max(0, Math.min(list.length - 1, chosen + by));
        drawOptions();
    }

    function drawStanding() {
        const rows = (look ? look.properties : []).map((property) => {
            const [kind, word] = property.holds === null ? ["unknown", "about whole runs"] : property.holds ? ["proved", "holds here"] : ["violated", property.fails ? `fails here: ${property.fails}` : "does not hold here"];
            return el("tr", {}, el("th", { scope: "row", class: "code" }, property.line ? el("a", { href: `#line-${property.line}`, onclick: (event) => { event.preventDefault(); toLine(property.line); } }, property.name) : property.name),
                el("td", {}, el("span", { class: `badge ${kind}`, "data-property": property.name }, word)));
        });
        standing.replaceChildren(rows.length ? el("table", {}, el("tbody", {}, rows)) : el("p", { class: "soft" }, look ? "The model has no properties." : ""));
    }

    function drawWatches() {
        const rows = watched.map((text) => {
            const value = look && look.watch.find((one) => one.text === text);
            const shown = !value ? "" : value.error ? el("span", { class: "bad" }, value.error) : String(value.value);
            return el("tr", {}, el("th", { scope: "row", class: "code" }, text), el("td", { class: "code", "data-watch": text }, shown),
                el("td", {}, el("button", { type: "button", "aria-label": `stop watching ${text}`, onclick: () => { watched = watched.filter((other) => other !== text); refresh(); } }, "×")));
        });
        watches.replaceChildren(el("table", {}, el("tbody", {}, rows)));
    }

    // The choice of processes and variables outlives a step.
    let project = null, projected = "";
    function draw() {
        for (const [name, input] of inputs) if (document.activeElement !== input) input.value = values[name];
        const several = look && look.initials !== null && look.initials !== "1";
        startLabel.hidden = !several && initial === "0";
        if (document.activeElement !== start) start.value = initial;
        say(note);
        undo.disabled = at === 0;
        redo.disabled = at === choices.length;
        again.disabled = choices.length === 0;
        drawOptions();
        drawStanding();
        drawWatches();
        if (!first) { left.replaceChildren(); place.replaceChildren(); program.here(null); program.who({ locations: new Map() }); return; }
        const walk = new Walk({ initial: first, steps, loop_from: loop === null ? undefined : loop });
        // Whoever was chosen has a lane, also who has only rested.
        for (const step of steps) walk.movers.add(step.process);
        const key = [...walk.processes, ...walk.movers].join(" ");
        if (!project || projected !== key) {
            project = projection(walk, drawWalk);
            projected = key;
            tools.replaceChildren(project.element);
        }
        current = walk;
        drawWalk();
    }

    let current = null;
    function drawWalk() {
        const walk = current;
        if (!walk) return;
        const had = left.contains(document.activeElement);
        const state = statePanel(walk, project.reads);
        let ready = false;
        const rows = lanes(walk, {
            shows: project.shows, reads: project.reads, fair: null,
            ending: look && at === choices.length && look.properties.some((property) => property.holds === false) ? `✗ ${look.properties.filter((property) => property.holds === false).map((property) => property.name).join(", ")}: not so here` : null,
            choose: (k) => { if (ready && k !== at) go(k); },
        });
        left.replaceChildren(rows.element);
        place.replaceChildren(state.element);
        rows.select(at);
        ready = true;
        state.show(at);
        const step = at > 0 ? walk.steps[at - 1] : null;
        program.here(step ? step.line : null);
        program.who(walk.state(at), step && step.process);
        if (graphs.open) drawGraphs(walk, step);
        if (had) rows.element.focus({ preventScroll: true });
    }

    function drawGraphs(walk, step) {
        const there = new Set(walk.processes.map(templateOf));
        const drawn = file.templates.filter((template) => there.has(template.name)).map((template) => {
            const one = graph(template, {});
            one.show(walk.state(at), step);
            return el("div", { class: "scroll" }, el("h3", {}, template.name), one.element);
        });
        graphs.replaceChildren(graphs.firstChild, ...drawn);
    }
    graphs.addEventListener("toggle", () => { if (graphs.open && current) drawGraphs(current, at > 0 ? current.steps[at - 1] : null); });

    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
        if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
        const pressed = /^(BUTTON|A|SUMMARY)$/.test(event.target.tagName);
        switch (event.key) {
            case "ArrowDown": case "j": pick(1); break;
            case "ArrowUp": case "k": pick(-1); break;
            case "PageDown": pick(10); break;
            case "PageUp": pick(-10); break;
            case "Home": pick(-Infinity); break;
            case "End": pick(Infinity); break;
            case "Enter": if (pressed || !look) return; take(listed()[chosen]); break;
            case "u": case "Backspace": case "ArrowLeft": go(at - 1); break;
            case "r": case "ArrowRight": go(at + 1); break;
            case "w": watchInput.focus(); break;
            default: return;
        }
        event.preventDefault();
    });
    window.addEventListener("hashchange", () => { note = ""; first = null; steps = []; look = null; try { arrive(); refresh(); } catch (error) { note = error.message; draw(); } });

    const keys = helpButton([["↓ ↑ j k", "choose a step"], ["Enter", "take it"], ["u Backspace ←", "undo"], ["r →", "take again what was undone"], ["w", "watch an expression"], ["?", "these keys"]]);
    document.body.append(el("main", { class: "page explorer" },
        el("div", { class: "top" }, el("h1", {}, file.name), el("div", { class: "end" }, keys, themeButton())),
        fields,
        el("div", { class: "tools" }, undo, redo, again, find, share, el("label", {}, "load a trace ", loader)),
        status, found,
        el("div", { class: "split" },
            el("div", {}, el("div", { class: "box" }, optionsTitle, filter, options), tools, left),
            el("div", { class: "side" },
                el("details", { open: true }, el("summary", {}, "Properties"), standing),
                el("details", { open: true }, el("summary", {}, "Watch"), watchForm, watches),
                el("details", { open: true }, el("summary", {}, "State"), place),
                el("details", { open: true }, el("summary", {}, "Program"), program.element),
                graphs))));
    program.begin();
    options.focus({ preventScroll: true });
    if (data.error && !file.templates.length) say(data.error);
    else {
        try { arrive(); refresh(); } catch (error) { note = error.message; refresh(); }
    }
})();
