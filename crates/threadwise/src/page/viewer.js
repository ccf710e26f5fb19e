"use strict";
// What the report and the explorer have in common: a walk through a program and four views of it (swim-lanes, the
// whole state, the source, control-flow graphs).
//
// Everything that comes from a model enters the page as text nodes and attribute values, never as markup, and names
// are keys of maps, never of objects: a variable may be called `__proto__`.
const viewer = (() => {
    const SVG = "http://www.w3.org/2000/svg";

    function fill(node, attributes, children) {
        for (const [name, value] of Object.entries(attributes || {})) {
            if (value === undefined || value === null || value === false) continue;
            if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
            else node.setAttribute(name, value === true ? "" : String(value));
        }
        for (const child of children.flat(Infinity)) {
            if (child === undefined || child === null || child === false) continue;
            node.append(child instanceof Node ? child : document.createTextNode(String(child)));
        }
        return node;
    }

    /** An element with attributes, listeners (`onclick`) and children; strings become text. */
    const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
    const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

    const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    const entries = (object) => Object.entries(object || {});
    const templateOf = (process) => process.replace(/\[.*$/, "");

    /** `P[1..3], P[7]` for names of processes. */
    function together(names) {
        const groups = new Map();
        const parts = [];
        for (const name of names) {
            const found = /^(.*)\[(-?\d+)\]$/.exec(name);
            if (!found) { parts.push(() => name); continue; }
            if (!groups.has(found[1])) {
                const numbers = [];
                groups.set(found[1], numbers);
                parts.push(() => `${found[1]}[${ranges(numbers)}]`);
            }
            groups.get(found[1]).push(Number(found[2]));
        }
        return parts.map((part) => part()).join(", ");
    }

    function ranges(numbers) {
        const runs = [];
        for (const number of [...numbers].sort((a, b) => a - b)) {
            const last = runs[runs.length - 1];
            if (last && last[1] + 1 === number) last[1] = number;
            else runs.push([number, number]);
        }
        return runs.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a},${b}` : `${a}..${b}`)).join(",");
    }

    /** Text of a model with what would turn the direction of writing, and other control characters, as escapes: what is read is what is there. */
    const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

    /** A run: its first state, and what each step changes. Position k is after k steps. */
    class Walk {
        constructor(trace) {
            this.trace = trace;
            this.steps = trace.steps;
            this.processes = entries(trace.initial.locations).map(([name]) => name);
            const known = this.known = new Set(this.processes);
            this.variables = entries(trace.initial.variables).map(([name]) => name);
            const variables = new Set(this.variables);
            this.movers = new Set();
            for (const step of this.steps) {
                if (!step.idle && !step.rest) this.movers.add(step.process);
                for (const [name] of entries(step.started)) if (!known.has(name)) { known.add(name); this.processes.push(name); }
                for (const [name] of entries(step.changes)) if (!variables.has(name)) { variables.add(name); this.variables.push(name); }
            }
            this.kept = new Map();
        }

        get length() { return this.steps.length; }

        /** Whose variable `P[1].k` is: `P[1]`; nobody's if it is shared, as the field `r.k` of a record is. */
        owner(name) {
            const whose = name.slice(0, Math.max(name.indexOf("."), 0));
            return this.known.has(whose) ? whose : null;
        }

        /** Where everybody is and what everything is, after `k` steps. */
        state(k) {
            if (this.kept.has(k)) return this.kept.get(k);
            let from = k;
            while (from > 0 && !this.kept.has(from)) from -= 1;
            const base = this.kept.get(from);
            const state = base
                ? { locations: new Map(base.locations), variables: new Map(base.variables) }
                : { locations: new Map(entries(this.trace.initial.locations)), variables: new Map(entries(this.trace.initial.variables)) };
            if (!base) from = 0;
            for (let at = from; at < k; at += 1) {
                this.apply(state, this.steps[at]);
                if ((at + 1) % 128 === 0 && at + 1 < k) {
                    this.kept.set(at + 1, { locations: new Map(state.locations), variables: new Map(state.variables) });
                }
            }
            if (this.kept.size > 200 + this.length / 128) this.kept.clear();
            this.kept.set(k, state);
            return state;
        }

        apply(state, step) {
            state.locations.set(step.process, step.to);
            for (const [name, label] of entries(step.started)) state.locations.set(name, label);
            for (const [name, value] of entries(step.changes)) state.variables.set(name, value);
        }

        /** What a step does, in a sentence. */
        sentence(k) {
            if (k === 0) return "the initial state";
            const step = this.steps[k - 1];
            const changes = entries(step.changes).map(([name, value]) => `${name} = ${value}`);
            const started = entries(step.started).map(([name]) => name);
            return [
                `step ${k}: ${step.process} ${moveText(step)}`,
                started.length ? `starts ${together(started)}` : "",
                changes.join(", "),
            ].filter(Boolean).join("; ");
        }
    }

    function moveText(step) {
        if (step.idle) return `has no step at ${step.from}`;
        if (step.rest) return `rests at ${step.from}`;
        return `${step.from} → ${step.to}`;
    }

    /** Brings a line of the source that is shown into view. */
    function toLine(number) {
        const line = document.getElementById(`line-${number}`);
        if (!line) return;
        const around = line.closest("details");
        if (around) around.open = true;
        line.scrollIntoView({ block: "center" });
        for (const old of document.querySelectorAll(".line.shown")) old.classList.remove("shown");
        line.classList.add("shown");
    }

    const change = (name, value, old) => el("mark", { class: "change code", title: old === undefined ? null : `was ${old}` }, `${name} = ${value}`);

    // Up to so many steps are shown at once; of more, the beginning, the end, and what is around the loop.
    const WHOLE = 300, HEAD = 60, TAIL = 120, AROUND = 20, PIECE = 250;

    /** Which stretches of steps 1..n are shown, and which are folded: pairs of bounds with whether it is open. */
    function stretches(n, interesting) {
        if (n <= WHOLE) return [{ from: 1, to: n, open: true }];
        const shown = [[1, HEAD], [n - TAIL + 1, n]];
        for (const at of interesting) shown.push([at - AROUND, at + AROUND]);
        const open = new Uint8Array(n + 2);
        for (const [a, b] of shown) for (let k = Math.max(1, a); k <= Math.min(n, b); k += 1) open[k] = 1;
        const all = [];
        for (let k = 1; k <= n; k += 1) {
            const last = all[all.length - 1];
            const same = last && last.open === Boolean(open[k]);
            if (same && (last.open || last.to - last.from + 1 < PIECE)) last.to = k;
            else all.push({ from: k, to: k, open: Boolean(open[k]) });
        }
        return all;
    }

    /**
     * Swim-lanes of a walk. `shows(process)` and `reads(variable)` project it; `fair` maps steps to what they fulfil;
     * `choose(k)` is told which position is selected. Returns the element and `select(k)`.
     */
    function lanes(walk, { shows, reads, fair, ending, choose }) {
        const columns = walk.processes.filter(shows);
        const place = new Map(columns.map((name, position) => [name, position + 2]));
        const shared = columns.length + 2;
        const rows = new Map();
        let chosen = null;
        const box = el("div", { class: "lanes", role: "listbox", tabindex: "0", "aria-label": "steps of the run", onkeydown: key });
        box.style.setProperty("--lanes", columns.length);
        if (columns.length > 6) box.classList.add("many");
        box.append(el("div", { class: "head", "aria-hidden": "true" },
            el("span", {}, "step"), columns.map((name) => el("span", { title: name }, name)), el("span", {}, "shared"), el("span", {}, "line")));

        function row(k) {
            const node = el("div", {
                class: "row", role: "option", id: `step-${k}`, "data-step": k, "aria-selected": "false", "aria-label": walk.sentence(k),
                onclick: () => { select(k); box.focus({ preventScroll: true }); },
            }, el("span", { class: "number" }, k === 0 ? "start" : k));
            columns.forEach((_, position) => {
                const life = el("span", { class: "life" });
                life.style.gridColumn = position + 2;
                node.append(life);
            });
            if (k === 0) {
                const all = el("span", { class: "rest" }, "the initial state");
                all.style.gridColumn = `2 / ${shared + 2}`;
                node.append(all);
                rows.set(0, node);
                return node;
            }
            const step = walk.steps[k - 1];
            const own = [], common = [];
            for (const [name, value] of entries(step.changes)) {
                if (walk.owner(name) === null) { if (reads(name)) common.push(change(name, value)); }
                else if (walk.owner(name) === step.process) { if (reads(name)) own.push(change(name.slice(step.process.length + 1), value)); }
                // Of a process that is started here.
                else if (reads(name)) common.push(change(name, value));
            }
            const started = entries(step.started).map(([name]) => name);
            const move = el("span", { class: step.idle || step.rest ? "move still" : "move" },
                moveText(step), started.length ? [el("br"), `starts ${together(started)}`] : null, own.length ? [el("br"), own] : null);
            move.style.gridColumn = place.get(step.process);
            const met = (fair && fair.get(k)) || [];
            const side = el("span", { class: "shared" }, common,
                met.slice(0, 6).map(({ text, title }) => el("span", { class: "chip fair", title }, `⚖ ${text}`)),
                met.length > 6 ? el("span", { class: "soft" }, `and ${met.length - 6} more`) : null);
            side.style.gridColumn = shared;
            node.append(move, side);
            if (step.line) {
                const at = el("span", { class: "at" }, el("a", { href: `#line-${step.line}`, tabindex: "-1", onclick: (event) => { event.preventDefault(); event.stopPropagation(); select(k); toLine(step.line); } }, step.line));
                at.style.gridColumn = shared + 1;
                node.append(at);
            }
            rows.set(k, node);
            return node;
        }

        /** The rows from..to into `into`; steps of processes that are not shown are counted. */
        function put(into, from, to) {
            let hidden = 0;
            const flush = () => {
                if (hidden) into.append(el("div", { class: "row" }, el("span", { class: "number" }, "…"), wide(`${plural(hidden, "step")} of processes that are not shown`)));
                hidden = 0;
            };
            for (let k = from; k <= to; k += 1) {
                if (place.has(walk.steps[k - 1].process)) { flush(); into.append(row(k)); } else hidden += 1;
            }
            flush();
        }

        function wide(text) {
            const node = el("span", { class: "rest" }, text);
            node.style.gridColumn = `2 / ${shared + 2}`;
            return node;
        }

        const folds = [];
        function part(into, from, to, interesting) {
            if (to < from) return;
            for (const stretch of stretches(to - from + 1, interesting.map((at) => at - from + 1))) {
                const a = from + stretch.from - 1, b = from + stretch.to - 1;
                if (stretch.open) { put(into, a, b); continue; }
                const button = el("button", { class: "fold", type: "button", tabindex: "-1" }, `▸ steps ${a.toLocaleString("en")} to ${b.toLocaleString("en")}`);
                const fold = { from: a, to: b, open() {
                    const piece = document.createDocumentFragment();
                    put(piece, a, b);
                    button.replaceWith(piece);
                    folds.splice(folds.indexOf(fold), 1);
                } };
                button.addEventListener("click", () => { fold.open(); select(a); box.focus({ preventScroll: true }); });
                folds.push(fold);
                into.append(button);
            }
        }

        box.append(row(0));
        const n = walk.length, loop = walk.trace.loop_from;
        if (loop === undefined || loop === null || loop >= n) {
            part(box, 1, n, []);
        } else {
            part(box, 1, loop, [loop]);
            const round = el("div", { class: "loop", role: "group", "aria-label": "for ever" }, el("div", { class: "turn" }, `↻ for ever: steps ${loop + 1} to ${n}`));
            part(round, loop + 1, n, [loop + 1]);
            round.append(el("div", { class: "turn" }, loop === 0 ? "↺ back to the initial state" : `↺ back to the state after step ${loop}`));
            box.append(round);
        }
        if (ending) box.append(el("div", { class: "ends" }, ending));

        function reveal(k) {
            const fold = folds.find((one) => one.from <= k && k <= one.to);
            if (fold) fold.open();
            return rows.get(k);
        }

        function select(k) {
            const node = reveal(k);
            if (!node) return false;
            if (chosen !== null && rows.get(chosen)) rows.get(chosen).setAttribute("aria-selected", "false");
            chosen = k;
            node.setAttribute("aria-selected", "true");
            box.setAttribute("aria-activedescendant", node.id);
            const head = box.firstChild.offsetHeight;
            if (node.offsetTop - head < box.scrollTop) box.scrollTop = node.offsetTop - head;
            else if (node.offsetTop + node.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = node.offsetTop + node.offsetHeight - box.clientHeight;
            choose(k);
            return true;
        }

        /** The next position in a direction that can be selected and that `wanted` admits. */
        function seek(from, by, wanted) {
            for (let k = from + by; k >= 0 && k <= n; k += by) {
                if (k === 0 || place.has(walk.steps[k - 1].process)) if (!wanted || wanted(k)) return k;
            }
            return null;
        }

        function key(event) {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const at = chosen === null ? 0 : chosen;
            const process = at > 0 ? walk.steps[at - 1].process : null;
            const same = (k) => k > 0 && (process === null || walk.steps[k - 1].process === process);
            let to = null;
            switch (event.key) {
                case "ArrowDown": case "j": to = seek(at, 1); break;
                case "ArrowUp": case "k": to = seek(at, -1); break;
                case "PageDown": to = seek(Math.min(at + 9, n - 1), 1); break;
                case "PageUp": to = seek(Math.max(at - 9, 1), -1); break;
                case "Home": to = 0; break;
                case "End": to = seek(n + 1, -1); break;
                case "n": to = seek(at, 1, same); break;
                case "p": to = seek(at, -1, same); break;
                default: return;
            }
            event.preventDefault();
            if (to !== null) select(to);
        }

        return { element: box, select };
    }

    /** The whole state after `k` steps, what the last step changed marked. Redrawn by `show(k)`. */
    function statePanel(walk, reads) {
        const MOST = 400;
        const filter = el("input", { type: "search", placeholder: "filter: x, P[2]", "aria-label": "show only variables and processes with this in their names" });
        const body = el("tbody");
        const title = el("h3");
        let at = 0;
        filter.addEventListener("input", () => draw());
        function draw() {
            const state = walk.state(at);
            const step = at > 0 ? walk.steps[at - 1] : null;
            const before = at > 0 ? walk.state(at - 1) : state;
            const changed = new Set(step ? entries(step.changes).map(([name]) => name) : []);
            title.textContent = at === 0 ? "The initial state" : `The state after step ${at}`;
            const wanted = filter.value.trim();
            const lines = [];
            const admits = (name) => !wanted || name.includes(wanted);
            const cell = (value, old, marked) => el("td", { class: "code" }, marked ? el("mark", {}, String(value)) : String(value),
                marked && old !== undefined && old !== value ? el("s", { title: "before" }, String(old)) : null);
            for (const [name, value] of state.variables) {
                if (walk.owner(name) !== null || !reads(name) || !admits(name)) continue;
                lines.push(() => el("tr", {}, el("th", { scope: "row", class: "code" }, name), cell(value, before.variables.get(name), changed.has(name))));
            }
            const locals = new Map();
            for (const [name, value] of state.variables) {
                const whose = walk.owner(name);
                if (whose === null) continue;
                if (!locals.has(whose)) locals.set(whose, []);
                locals.get(whose).push([name, value]);
            }
            for (const [process, label] of state.locations) {
                const old = before.locations.get(process);
                if (admits(process)) lines.push(() => el("tr", {}, el("th", { scope: "row", class: "code" }, process), el("td", { class: "code" }, "at ",
                    old !== label ? el("mark", {}, label) : label, old !== undefined && old !== label ? el("s", { title: "before" }, old) : null)));
                for (const [name, value] of locals.get(process) || []) {
                    if (!reads(name) || !admits(name)) continue;
                    lines.push(() => el("tr", {}, el("th", { scope: "row", class: "code" }, name), cell(value, before.variables.get(name), changed.has(name))));
                }
            }
            const shown = lines.slice(0, MOST).map((line) => line());
            if (lines.length > MOST) {
                const more = el("button", { type: "button", onclick: () => body.replaceChildren(...lines.map((line) => line())) }, `show ${lines.length - MOST} more`);
                shown.push(el("tr", {}, el("td", { colspan: 2 }, more)));
            }
            body.replaceChildren(...shown);
        }
        const element = el("div", {}, title, filter, el("div", { class: "state", tabindex: "0", role: "region", "aria-label": "values" }, el("table", {}, body)));
        return { element, show(k) { at = k; draw(); } };
    }

    /** The source of a file. `here(line)` marks a line, `who(state)` shows who is where, `facts` stand above labels. */
    function sourcePane(file, facts) {
        const box = el("div", { class: "source", tabindex: "0", role: "region", "aria-label": `the program, ${file.name}` });
        const lines = [];
        const text = file.text.split(/\r\n|\n/);
        if (text.length > 1 && text[text.length - 1] === "") text.pop();
        text.forEach((content, position) => {
            const number = position + 1;
            for (const fact of (facts && facts.get(number)) || []) box.append(el("div", { class: "fact" }, fact));
            const where = el("span", { class: "where" });
            const line = el("div", { class: "line", id: `line-${number}` }, el("span", { class: "number", "aria-hidden": "true" }, number),
                el("span", { class: "text" }, visible(content), where));
            lines.push({ line, where });
            box.append(line);
        });
        let marked = null, labelled = [];
        const first = Math.min(...file.templates.flatMap((template) => template.labels.map((label) => label.line || Infinity)));
        return {
            element: box,
            /** Past the comment at the beginning, which may be long. */
            begin() {
                const line = (lines[first - 4] || {}).line;
                if (line) box.scrollTop = line.offsetTop;
            },
            here(number) {
                if (marked) marked.classList.remove("here");
                marked = number ? (lines[number - 1] || {}).line : null;
                if (!marked) return;
                marked.classList.add("here");
                const top = marked.offsetTop;
                if (top < box.scrollTop || top + marked.offsetHeight > box.scrollTop + box.clientHeight) {
                    box.scrollTop = top - box.clientHeight / 3;
                }
            },
            who(state, mover) {
                for (const where of labelled) where.replaceChildren();
                labelled = [];
                for (const [line, names] of whereabouts(file, state)) {
                    const place = lines[line - 1];
                    if (!place) continue;
                    const few = names.length <= 5;
                    place.where.replaceChildren(...(few ? names.map((name) => el("span", { class: name === mover ? "chip mover" : "chip" }, name))
                        : [el("span", { class: names.includes(mover) ? "chip mover" : "chip", title: together(names) }, `${names.length} processes`)]));
                    labelled.push(place.where);
                }
            },
        };
    }

    /** Lines of labels with the processes that are there. */
    function whereabouts(file, state) {
        const lines = new Map();
        const templates = new Map(file.templates.map((template) => [template.name, template]));
        for (const [process, label] of state.locations) {
            const template = templates.get(templateOf(process));
            const found = template && template.labels.find((one) => one.name === label);
            if (!found || !found.line) continue;
            if (!lines.has(found.line)) lines.set(found.line, []);
            lines.get(found.line).push(process);
        }
        return lines;
    }

    /** The control-flow graph of a template: labels from top to bottom as in the source, other edges as arcs beside them. */
    function graph(template, { holds, walked }) {
        const WIDTH = 150, HEIGHT = 34, GAP = 30, LEVEL = 13;
        const n = template.labels.length;
        const used = new Set(template.edges.flatMap(([a, b]) => [a, b]));
        const nodes = template.labels.map((label, position) => ({ label, position })).filter(({ position }) => used.has(position) || position === template.entry);
        const at = new Map(nodes.map(({ position }, rank) => [position, rank]));
        const arcs = { left: [], right: [] };
        const level = (side, a, b) => {
            let depth = 0;
            while (arcs[side].some((arc) => arc.depth === depth && arc.a < b && a < arc.b)) depth += 1;
            arcs[side].push({ a, b, depth });
            return depth;
        };
        const sorted = template.edges.filter(([a, b]) => at.has(a) && at.has(b)).map(([a, b]) => ({ a, b, ra: at.get(a), rb: at.get(b) }))
            .sort((one, two) => Math.abs(one.ra - one.rb) - Math.abs(two.ra - two.rb) || one.ra - two.ra || one.rb - two.rb);
        for (const edge of sorted) {
            if (edge.rb === edge.ra + 1 || edge.a === edge.b) continue;
            edge.side = edge.rb > edge.ra ? "right" : "left";
            edge.depth = level(edge.side, Math.min(edge.ra, edge.rb), Math.max(edge.ra, edge.rb));
        }
        const deepest = (side) => Math.max(0, ...arcs[side].map((arc) => arc.depth + 1));
        const left = 20 + deepest("left") * LEVEL, right = 26 + deepest("right") * LEVEL;
        const longest = Math.max(0, ...nodes.map(({ label }) => ((holds && holds.get(label.name)) || "").length));
        const width = left + WIDTH + right + (holds ? Math.min(620, 30 + longest * 7.4) : 110);
        const height = nodes.length * (HEIGHT + GAP) + 10;
        const drawing = svg("svg", { class: "drawing", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" },
            svg("title", {}, `control flow of ${template.name}: ${n} labels`));
        const middle = (rank) => 10 + rank * (HEIGHT + GAP) + HEIGHT / 2;
        const edges = new Map();
        for (const edge of sorted) {
            let path, tip;
            const y1 = middle(edge.ra), y2 = middle(edge.rb);
            if (edge.a === edge.b) {
                const x = left + WIDTH;
                path = `M ${x} ${y1 - 7} C ${x + 22} ${y1 - 14}, ${x + 22} ${y1 + 14}, ${x + 3} ${y1 + 7}`;
                tip = `M ${x} ${y1 + 6} l 9 -4 l -1 8 z`;
            } else if (!edge.side) {
                const x = left + WIDTH / 2;
                path = `M ${x} ${y1 + HEIGHT / 2} L ${x} ${y2 - HEIGHT / 2 - 4}`;
                tip = `M ${x} ${y2 - HEIGHT / 2} l -4 -8 l 8 0 z`;
            } else {
                const sign = edge.side === "right" ? 1 : -1;
                const x = edge.side === "right" ? left + WIDTH : left;
                const out = x + sign * (12 + edge.depth * LEVEL);
                const s = y2 > y1 ? 1 : -1;
                path = `M ${x} ${y1 + s * 8} H ${out - sign * 6} Q ${out} ${y1 + s * 8} ${out} ${y1 + s * 14} V ${y2 - s * 14} Q ${out} ${y2 - s * 8} ${out - sign * 6} ${y2 - s * 8} H ${x + sign * 4}`;
                tip = `M ${x} ${y2 - s * 8} l ${sign * 8} -4 l 0 8 z`;
            }
            const name = `${template.labels[edge.a].name} → ${template.labels[edge.b].name}`;
            const line = svg("path", { class: walked && walked.has(name) ? "edge walked" : "edge", d: path }, svg("title", {}, name));
            const head = svg("path", { class: "tip", d: tip });
            edges.set(name, [line, head]);
            drawing.append(line, head);
        }
        const boxes = new Map();
        for (const { label } of nodes) {
            const rank = at.get(template.labels.indexOf(label));
            const y = middle(rank);
            const who = svg("text", { class: "who", x: left + WIDTH + right - 8, y: y + 4 });
            const fact = holds && holds.get(label.name);
            const box = svg("g", { class: "node" },
                svg("rect", { x: left, y: y - HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 7 }),
                svg("text", { x: left + WIDTH / 2, y: y + 4, "text-anchor": "middle" }, clip(label.name, 19), svg("title", {}, label.name)),
                fact ? svg("text", { class: "holds", x: left + WIDTH + right - 8, y: y + 4 }, clip(fact, 84), svg("title", {}, fact)) : who);
            boxes.set(label.name, { box, who });
            drawing.append(box);
        }
        return {
            element: drawing,
            show(state, step) {
                const there = new Map();
                for (const [process, label] of state.locations) {
                    if (templateOf(process) !== template.name) continue;
                    if (!there.has(label)) there.set(label, []);
                    there.get(label).push(process);
                }
                for (const [name, { box, who }] of boxes) {
                    const names = there.get(name) || [];
                    box.classList.toggle("here", names.length > 0);
                    who.textContent = names.length === 0 ? "" : clip(together(names), 22);
                }
                const taken = step && templateOf(step.process) === template.name && !step.idle && !step.rest ? `${step.from} → ${step.to}` : null;
                for (const [name, parts] of edges) for (const one of parts) one.classList.toggle("here", name === taken);
            },
        };
    }

    const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

    /** Which processes and variables to look at. `changed` is called with two predicates. */
    function projection(walk, changed) {
        const MANY = 12;
        const some = walk.processes.length > MANY ? walk.processes.filter((name) => walk.movers.has(name)) : walk.processes;
        const processes = new Set(some.length ? some.slice(0, 40) : walk.processes.slice(0, MANY));
        const hidden = new Set();
        const shows = (name) => processes.has(name);
        const reads = (name) => !hidden.has(name.replace(/\[.*?\]/g, "[]"));
        const variables = [...new Set(walk.variables.map((name) => name.replace(/\[.*?\]/g, "[]")))];
        const update = () => { redraw(); changed(shows, reads); };
        const summary = el("summary");
        const list = el("div");
        const what = el("summary", {}, "variables");
        function choices(into, names, chosen, toggle) {
            const search = el("input", { type: "search", placeholder: "filter", "aria-label": "filter the list" });
            const boxes = el("div");
            const draw = () => boxes.replaceChildren(...names.filter((name) => name.includes(search.value.trim())).slice(0, 200).map((name) => {
                const box = el("input", { type: "checkbox", onchange: () => { toggle(name, box.checked); update(); } });
                box.checked = chosen(name);
                return el("label", {}, box, " ", el("span", { class: "code" }, name));
            }));
            search.addEventListener("input", draw);
            into.append(el("div", { class: "tools" }, el("button", { type: "button", onclick: () => { names.forEach((name) => toggle(name, true)); draw(); update(); } }, "all"),
                el("button", { type: "button", onclick: () => { names.forEach((name) => toggle(name, false)); draw(); update(); } }, "none")), search, boxes);
            draw();
            return draw;
        }
        choices(list, walk.processes, shows, (name, on) => (on ? processes.add(name) : processes.delete(name)));
        const varList = el("div");
        choices(varList, variables, (name) => !hidden.has(name), (name, on) => (on ? hidden.delete(name) : hidden.add(name)));
        function redraw() {
            summary.textContent = `processes: ${processes.size} of ${walk.processes.length}`;
            what.textContent = hidden.size ? `variables: ${variables.length - hidden.size} of ${variables.length}` : "variables: all";
        }
        redraw();
        const menu = (title, content, key) => el("details", { "data-menu": key }, title, content);
        return { element: el("div", { class: "tools" }, menu(summary, list, "processes"), menu(what, varList, "variables")), shows, reads };
    }

    /** All views of a walk, kept together. `ending` is what is said below the last step. */
    function walkView(walk, file, { fair, ending, start }) {
        const left = el("div"), place = el("div");
        const program = sourcePane(file);
        const walked = new Map();
        for (const step of walk.steps) {
            if (step.idle || step.rest) continue;
            const template = templateOf(step.process);
            if (!walked.has(template)) walked.set(template, new Set());
            walked.get(template).add(`${step.from} → ${step.to}`);
        }
        const moved = new Set(walk.processes.map(templateOf));
        const graphs = file.templates.filter((template) => moved.has(template.name)).map((template) => ({ template, drawn: graph(template, { walked: walked.get(template.name) }) }));
        let rows, state, at = start;
        const show = (k) => {
            at = k;
            const step = k > 0 ? walk.steps[k - 1] : null;
            state.show(k);
            program.here(step ? step.line : null);
            program.who(walk.state(k), step && step.process);
            for (const { drawn } of graphs) drawn.show(walk.state(k), step);
        };
        const project = projection(walk, draw);
        function draw() {
            state = statePanel(walk, project.reads);
            rows = lanes(walk, { shows: project.shows, reads: project.reads, fair, ending, choose: show });
            left.replaceChildren(rows.element);
            place.replaceChildren(state.element);
            if (!rows.select(at)) rows.select(0);
        }
        const element = el("div", { class: "split" },
            el("div", {}, project.element, left),
            el("div", { class: "side" },
                el("details", { open: true }, el("summary", {}, "State"), place),
                el("details", { open: true }, el("summary", {}, "Program"), program.element),
                el("details", {}, el("summary", {}, "Control flow"), graphs.map(({ template, drawn }) => el("div", { class: "scroll" }, el("h3", {}, template.name), drawn.element)))));
        return { element, begin() { program.begin(); draw(); } };
    }

    /** The button that changes between light and dark. */
    function themeButton() {
        const root = document.documentElement;
        const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches);
        const button = el("button", { type: "button", onclick: () => { root.dataset.theme = dark() ? "light" : "dark"; name(); } });
        const name = () => { button.textContent = dark() ? "light" : "dark"; button.setAttribute("aria-label", `change to ${dark() ? "light" : "dark"} colours`); };
        name();
        return button;
    }

    /** Whether a key goes into a text. */
    const typing = ({ target }) => target.tagName === "TEXTAREA" || target.tagName === "SELECT" || (target.tagName === "INPUT" && target.type !== "checkbox");

    /** A button, and the key `?`, for a dialog that lists keys. */
    function helpButton(keys) {
        const dialog = el("dialog", { "aria-label": "keys" }, el("h2", {}, "Keys"),
            el("table", {}, el("tbody", {}, keys.map(([key, what]) => el("tr", {}, el("td", {}, key.split(" ").map((one) => [el("kbd", {}, one), " "])), el("td", {}, what))))),
            el("p", {}, el("button", { type: "button", onclick: () => dialog.close() }, "close")));
        document.body.append(dialog);
        document.addEventListener("keydown", (event) => {
            if (event.key === "?" && !typing(event) && !dialog.open) { event.preventDefault(); dialog.showModal(); }
        });
        return el("button", { type: "button", onclick: () => dialog.showModal() }, "keys");
    }

    return { el, svg, plural, entries, templateOf, together, clip, Walk, lanes, statePanel, sourcePane, graph, projection, walkView, themeButton, helpButton, toLine, typing, visible };
})();
