"use strict";
// The report of `threadwise check --report`: verdicts, and for the chosen one its evidence.
(() => {
    const { el, svg, plural, entries, clip, Walk, walkView, sourcePane, graph, themeButton, helpButton } = viewer;
    const data = JSON.parse(document.getElementById("data").textContent);
    const MARKS = { proved: "✓", violated: "✗", unknown: "?" };
    const all = data.runs.flatMap((run, at) => run.results.map((result, place) => ({ run, result, id: `${at + 1}.${place + 1}` })));

    /** Whether the claim is for all values, and was proved at some only. */
    const partly = (result) => result.verdict === "unknown" && Boolean(result.holds);
    const badge = (result) => el("span", { class: `badge ${result.verdict}${partly(result) ? " partly" : ""}`, title: partly(result) ? "it holds at some values; the claim is for all" : null }, `${MARKS[result.verdict]} ${result.verdict}`);
    const seconds = (time) => (time === undefined ? "" : time < 0.0995 ? `${Math.round(time * 1000)} ms` : time < 9.95 ? `${time.toFixed(1)} s` : `${Math.round(time)} s`);
    const lineLink = (line) => el("a", { href: `#line-${line}`, onclick: (event) => { event.preventDefault(); viewer.toLine(line); } }, `line ${line}`);

    const detail = el("section", { id: "detail", "aria-live": "polite", tabindex: "-1" });
    const rows = new Map();

    function table() {
        const body = el("tbody");
        let last = null;
        for (const one of all) {
            const { run, result, id } = one;
            if (run !== last && data.runs.length > 1) body.append(el("tr", { class: "soft" }, el("th", { colspan: 6, scope: "colgroup" }, run.title)));
            last = run;
            const link = el("a", { href: `#${id}` }, result.property);
            const row = el("tr", { onclick: () => { location.hash = id; } }, el("td", { class: "code" }, link), el("td", {}, badge(result)), el("td", { class: "scope" }, run.scopes[run.results.indexOf(result)]),
                el("td", { class: "code wide" }, result.engine), el("td", { class: "wide" }, result.rechecked ? (result.verdict === "violated" ? "replayed" : "rechecked") : result.verdict === "unknown" ? "" : "not rechecked"),
                el("td", { class: "wide" }, seconds(result.stats.seconds)));
            rows.set(id, row);
            body.append(row);
        }
        return el("div", { class: "scroll" }, el("table", { class: "verdicts" }, el("caption", { class: "skip" }, "verdicts"),
            el("thead", {}, el("tr", {}, ["property", "verdict", "scope", "engine", "evidence", "time"].map((title, at) => el("th", { scope: "col", class: at > 2 ? "wide" : null }, title)))), body));
    }

    function show(one) {
        for (const [id, row] of rows) row.setAttribute("aria-current", id === one.id ? "true" : "false");
        const { run, result } = one;
        const scope = run.scopes[run.results.indexOf(result)];
        const file = data.files[run.file];
        const title = el("h2", {}, badge(result), " ", el("span", { class: "code" }, result.property), ` ${scope}`);
        const parts = [title];
        const declared = file && file.properties.find((property) => property.name === result.property);
        if (declared) parts.push(el("p", {}, el("code", {}, viewer.visible(declared.text)), declared.line ? [" ", lineLink(declared.line)] : null));
        if (result.vacuous) parts.push(prose(`But vacuously: ${result.vacuous.kind === "no_fair_run" ? "no run is fair as it assumes" : `this never happens: ${result.vacuous.triggers.join("; ")}`}.`));
        for (const note of result.notes || []) parts.push(el("p", {}, note));
        const missing = result.reason && result.reason.missing;
        if (result.reason) parts.push(el("p", { class: result.verdict === "unknown" ? "" : "soft" }, sentence(result.reason.message)), result.reason.next ? el("p", { class: "soft" }, `Next: ${result.reason.next}`) : null);
        if (missing) parts.push(prose(`Missing for a proof: ${sentence(missing.gap)}`), missing.state ? prose(`As in: \`${missing.state}\`.`) : null, missing.help ? el("p", { class: "soft" }, sentence(missing.help)) : null);
        for (const why of result.tried || []) parts.push(el("p", { class: "soft" }, `Not for all: ${sentence(why)}`));
        let begin = null;
        if (result.trace && file) {
            const walk = new Walk(result.trace);
            const conclusion = run.conclusions[run.results.indexOf(result)] || "";
            parts.push(el("div", { class: "box violated" }, conclusion.trimEnd().split("\n").map(prose), (result.remedies || []).map((remedy) => prose(remedy.message))));
            const view = walkView(walk, file, { fair: fairness(result.trace), ending: ending(result.trace), start: result.trace.loop_from === undefined ? walk.length : result.trace.loop_from });
            parts.push(fairTable(result.trace), view.element);
            begin = () => view.begin();
        } else if (file) {
            const view = proof(run, result, file);
            parts.push(view.element);
            begin = () => view.begin();
        }
        parts.push(figures(result));
        detail.replaceChildren(...parts.filter(Boolean));
        if (begin) begin();
        document.title = `${result.property}: ${result.verdict} – threadwise`;
    }

    /** A line of text with `code` in it; lines of the source, and lists, are indented. */
    function prose(line) {
        const quoted = /^\s+\d+: /.test(line);
        const parts = line.trim().split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
        return el("p", { class: quoted ? "quote code" : /^\s/.test(line) ? "quote" : null }, quoted ? line.trim() : parts);
    }

    const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

    function ending(trace) {
        switch (trace.ending.kind) {
            case "invariant": return trace.ending.fails ? `✗ here evaluating ${trace.property} fails` : `✗ here ${trace.property} does not hold`;
            case "check": return `✗ here ${trace.ending.process} at ${trace.ending.from} fails a check`;
            case "deadlock": return "✗ here no process can go on";
            default: return trace.loop_from === undefined ? null : `✗ ${trace.property} does not hold in this run without end`;
        }
    }

    /** Which steps fulfil which assumptions of fairness. */
    function fairness(trace) {
        const steps = new Map();
        for (const assumption of (trace.lasso && trace.lasso.fairness) || []) {
            for (const met of assumption.met) {
                if (!met.step) continue;
                const values = entries(met.values).map(([name, value]) => `${name} = ${value}`).join(", ");
                const title = assumption.because === "scheduled" ? `${met.process} is scheduled` : `${assumption.predicate || "what it asks for"} holds${values ? ` for ${values}` : ""}`;
                if (!steps.has(met.step)) steps.set(met.step, []);
                steps.get(met.step).push({ text: assumption.declaration, title });
            }
        }
        return steps;
    }

    function fairTable(trace) {
        const assumptions = (trace.lasso && trace.lasso.fairness) || [];
        if (!assumptions.length) return null;
        const because = { scheduled: "is scheduled in the loop", holds: "holds in the loop", never: "never holds in the loop, so nothing is asked" };
        return el("details", {}, el("summary", {}, `Why the run is fair: ${plural(assumptions.length, "assumption")} met`), el("div", { class: "scroll" }, el("table", {},
            el("thead", {}, el("tr", {}, ["assumption", "kind", "what", "where"].map((title) => el("th", { scope: "col" }, title)))),
            el("tbody", {}, assumptions.map((one) => el("tr", {}, el("td", {}, one.declaration, one.line ? [" ", lineLink(one.line)] : null), el("td", {}, one.kind),
                el("td", {}, one.predicate ? [el("code", {}, one.predicate), " "] : one.because === "scheduled" ? "each process " : "", because[one.because]),
                el("td", {}, where(one.met))))))));
    }

    function where(met) {
        const MOST = 12;
        const each = met.slice(0, MOST).map((one) => [one.process || entries(one.values).map(([name, value]) => `${name} = ${value}`).join(", "), one.step ? `step ${one.step}` : ""].filter(Boolean).join(": "));
        return each.filter(Boolean).join("; ") + (met.length > MOST ? `; and ${met.length - MOST} more` : "");
    }

    /** What holds where, of an outline: by template and label, with what the names in it stand for. */
    function assertions(outline, written) {
        const found = new Map();
        ((outline && outline.processes) || []).forEach((process, part) => {
            const template = viewer.templateOf(process.process);
            if (!found.has(template)) found.set(template, new Map());
            const labels = found.get(template);
            process.labels.forEach((place, at) => {
                const holds = written[part][at];
                const others = process.other ? `, for ${process.other.binder ? "every " : ""}${process.other.process}${process.other.condition ? ` with ${process.other.condition}` : ""}` : "";
                for (const label of place.labels) {
                    if (!labels.has(label)) labels.set(label, []);
                    labels.get(label).push({ who: process.process, holds, others });
                }
            });
        });
        return found;
    }

    function proof(run, result, file) {
        const outline = result.outline;
        const parts = [];
        if (result.verdict === "proved" && !outline) {
            parts.push(el("p", {}, ["explicit", "forward", "backward"].includes(result.engine) ? "Every reachable state was looked at; there is no invariant to read. An engine that looks at one process at a time, such as split, gives one if it proves the property."
                : "The proof could not be written down within the limits; its certificate can be kept with --certificate DIR."));
        }
        const known = assertions(outline, run.assertions[run.results.indexOf(result)]);
        const facts = new Map(), holds = new Map();
        for (const template of file.templates) {
            const labels = known.get(template.name);
            if (!labels) continue;
            const short = new Map();
            holds.set(template.name, short);
            for (const label of template.labels) {
                const all = labels.get(label.name);
                if (!all) continue;
                short.set(label.name, all.map((one) => one.holds).join("; "));
                if (!label.line) continue;
                if (!facts.has(label.line)) facts.set(label.line, []);
                for (const one of all) facts.get(label.line).push(`${one.who} at ${label.name}: ${one.holds}${one.others}`);
            }
        }
        if (outline) {
            if (outline.always && outline.always.length) {
                parts.push(el("h3", {}, "Always"), el("ul", {}, outline.always.map((fact) => el("li", {}, el("code", {}, fact)))));
            }
            parts.push(counters(outline, file));
            if (outline.argument && outline.argument.length) parts.push(el("h3", {}, result.kind === "liveness" ? "Why no run goes against it" : "Why"), argument(outline.argument));
            parts.push(el("p", { class: "soft" }, run.endings[run.results.indexOf(result)] || ""));
        }
        parts.push(exposed(result));
        parts.push(rounds(result));
        const program = sourcePane(file, facts);
        const left = el("div", {}, el("h3", {}, facts.size ? "The program with its assertions" : "The program"), program.element);
        const right = el("div", {}, el("h3", {}, "Control flow"), file.templates.map((template) => el("div", { class: "scroll" }, el("h3", { class: "soft" }, template.name),
            graph(template, { holds: holds.get(template.name) }).element)));
        parts.push(el("div", { class: "split" }, left, right));
        return { element: el("div", {}, parts), begin: () => program.begin() };
    }

    /** The deletions of a liveness proof for all values, one after the other, with what is supposed and what follows; of other proofs, lines as they are. */
    function argument(lines) {
        const begin = lines[0], end = lines[lines.length - 1];
        if (lines.length < 3 || !begin.startsWith("Suppose ") || lines.some((line) => /^\s/.test(line))) return el("pre", { class: "plain" }, lines.join("\n"));
        const deleted = (line) => {
            const [, sum, rest] = /^(.*?)( never increases.*)$/.exec(line) || [];
            if (sum) return el("li", {}, el("code", {}, sum), rest);
            const [, what, states, because] = /^(.*?): (.*?)\.( [A-Z].*)?$/.exec(line) || [];
            return el("li", {}, states ? [`${what}: `, el("code", {}, states), `.${because || ""}`] : line);
        };
        return el("div", {}, el("p", {}, begin), el("ol", { class: "deletions" }, lines.slice(1, -1).map(deleted)), el("p", {}, end));
    }

    /** What the counters in a proof count. */
    function counters(outline, file) {
        const texts = [...(outline.always || []), ...(outline.argument || []), ...outline.processes.flatMap((process) => process.labels.flatMap((place) => place.holds))];
        const names = new Set(texts.flatMap((text) => [...text.matchAll(/#(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)/g)].map((found) => found[0])));
        if (!names.size) return outline.notation ? el("p", { class: "soft" }, sentence(outline.notation)) : null;
        const rows = [...names].map((name) => {
            const names = name.slice(1).split("."), label = names.pop(), of = names[0];
            const template = file.templates.find((one) => (!of || one.name === of) && one.labels.some((known) => known.name === label));
            const line = template && template.labels.find((known) => known.name === label).line;
            return el("tr", {}, el("td", { class: "code" }, name), el("td", {}, `how many processes${file.templates.length > 1 && template ? ` of ${template.name}` : ""} are at `, el("code", {}, label),
                label === "done" ? ": they have ended" : "", line && label !== "done" ? [" (", lineLink(line), ")"] : null));
        });
        return el("div", {}, el("h3", {}, "Counters"), outline.notation ? el("p", { class: "soft" }, sentence(outline.notation)) : null, el("table", {}, el("tbody", {}, rows)));
    }

    function exposed(result) {
        const given = (result.outline && result.outline.exposed) || [];
        const by = result.exposures || [];
        if (!given.length && !by.length) return null;
        const rows = by.map((one) => el("tr", {}, el("td", {}, `round ${one.round}`), el("td", { class: "code" }, one.facts.join(", "))));
        return el("div", {}, el("h3", {}, "Auxiliary predicates"), el("p", {}, "What the assertions of one process may say of the others",
            given.length ? [": ", el("code", {}, given.join(", "))] : ""), rows.length ? el("table", {}, el("tbody", {}, rows)) : null);
    }

    /** The rounds of the engine: what happened, and their sizes and times as a plot. */
    function rounds(result) {
        const told = result.rounds || [];
        if (!told.length) return null;
        const measures = (result.stats.rounds || []).filter((one) => one.size !== undefined || one.seconds !== undefined);
        return el("details", { open: told.length <= 12 }, el("summary", {}, plural(told.length, "round")), plot(result.stats.rounds || [], measures), el("ol", {}, told.slice(0, 500).map((text) => el("li", {}, text))),
            told.length > 500 ? el("p", { class: "soft" }, `and ${told.length - 500} more`) : null);
    }

    function plot(list, measures) {
        if (!measures.length) return null;
        const W = 640, H = 190, L = 66, R = 66, T = 26, B = 30;
        const unit = (measures.find((one) => one.unit) || { unit: "" }).unit;
        const most = Math.max(1, ...list.map((one) => one.size || 0)), longest = Math.max(1e-6, ...list.map((one) => one.seconds || 0));
        const x = (at) => L + ((at + 0.5) * (W - L - R)) / list.length;
        const y = (part) => H - B - part * (H - T - B);
        const bar = Math.min(40, (0.6 * (W - L - R)) / list.length);
        const drawing = svg("svg", { class: "drawing", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img" }, svg("title", {}, `size and time of ${list.length} rounds`),
            svg("line", { class: "axis", x1: L, x2: W - R, y1: H - B, y2: H - B }),
            svg("text", { class: "plain", x: L, y: 14 }, unit ? `▮ ${unit}, at most ${most.toLocaleString("en")}` : ""),
            svg("text", { class: "plain", x: W - R, y: 14, "text-anchor": "end" }, `● time after the round, ${seconds(longest)} in all`));
        list.forEach((one, at) => {
            const title = `round ${at + 1}: ${one.size !== undefined ? `${one.size} ${one.unit || ""}, ` : ""}${seconds(one.seconds)}`;
            if (one.size !== undefined) drawing.append(svg("rect", { class: "bar", x: x(at) - bar / 2, width: bar, y: y(one.size / most), height: Math.max(1, H - B - y(one.size / most)) }, svg("title", {}, title)));
            if (list.length <= 30 || at % Math.ceil(list.length / 30) === 0) drawing.append(svg("text", { class: "plain", x: x(at), y: H - B + 16, "text-anchor": "middle" }, at + 1));
        });
        const timed = list.map((one, at) => [one, at]).filter(([one]) => one.seconds !== undefined);
        if (timed.length) {
            drawing.append(svg("path", { class: "time", d: timed.map(([one, at], place) => `${place ? "L" : "M"} ${x(at)} ${y(one.seconds / longest)}`).join(" ") }));
            for (const [one, at] of timed) drawing.append(svg("circle", { class: "dot", cx: x(at), cy: y(one.seconds / longest), r: 3.5 }, svg("title", {}, `round ${at + 1}: ${seconds(one.seconds)}`)));
        }
        return el("div", { class: "scroll" }, drawing);
    }

    function figures(result) {
        const names = { seconds: "seconds", cpu_seconds: "seconds of processor time", recheck_seconds: "seconds for rechecking", peak_nodes: "nodes at most", memory_mib: "MiB", bytes_per_state: "bytes a state",
            states_decimal: "states", peak_bytes: "bytes stored at most", up_to_symmetry: "states counted up to symmetry", work: "units of work" };
        const shown = entries(result.stats).filter(([, value]) => typeof value !== "object").map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, names[name] || name.replace(/_/g, " ")),
            el("td", {}, typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 3 }) : String(value))));
        if (result.plan) shown.push(el("tr", {}, el("th", { scope: "row" }, "plan"), el("td", {}, result.plan)));
        return shown.length ? el("details", {}, el("summary", {}, "Statistics"), el("table", {}, el("tbody", {}, shown))) : null;
    }

    function diagnostics() {
        const list = data.runs.flatMap((run) => run.diagnostics.map((one) => ({ run, one })));
        if (!list.length) return null;
        const errors = list.filter(({ one }) => one.severity === "error").length;
        return el("details", { open: all.length === 0 || errors > 0 }, el("summary", {}, errors ? plural(errors, "error") : plural(list.length, "message")), el("ul", {}, list.slice(0, 200).map(({ run, one }) =>
            el("li", {}, `${one.severity}: `, one.place ? `${run.title}, line ${one.place.line}: ` : one.message.includes(run.title) ? "" : `${run.title}: `, one.message, one.help ? el("div", { class: "soft" }, `help: ${one.help}`) : null))));
    }

    function choose() {
        const wanted = location.hash.slice(1);
        const one = all.find(({ id }) => id === wanted) || all.find(({ result }) => result.property === wanted);
        if (one) show(one);
        return Boolean(one);
    }

    const count = (verdict) => all.filter(({ result }) => result.verdict === verdict).length;
    const unread = data.runs.filter((run) => run.results.length === 0).length;
    const tally = (verdict) => {
        const some = verdict === "unknown" ? all.filter(({ result }) => partly(result)).length : 0;
        return `${count(verdict)} ${verdict}${some === 0 ? "" : some === count(verdict) ? " (proved at some values)" : ` (${some} of them proved at some values)`}`;
    };
    const keys = [["[ ]", "the property before or after"], ["↑ ↓", "one step back or on (in the lanes)"], ["PageUp PageDown", "ten steps"], ["Home End", "the first state, the last step"], ["n p", "next or previous step of the same process"], ["?", "this list"]];
    const main = el("main", { class: "page", id: "main" },
        el("div", { class: "top" }, el("h1", {}, data.title), el("span", { class: "soft" }, ["proved", "violated", "unknown"].filter((verdict) => count(verdict)).map(tally).concat(unread ? [`${plural(unread, "file")} not checked`] : []).join(", ")),
            el("span", { class: "end" }, helpButton(keys), themeButton())),
        data.exit === 130 ? el("p", { role: "alert" }, el("strong", {}, "Interrupted: not everything was checked.")) : null,
        all.length ? table() : el("p", {}, "Nothing was checked."), diagnostics(), detail,
        el("p", { class: "soft" }, `threadwise ${data.version}. Memory is sequentially consistent, and every verdict is about that.`));
    document.body.prepend(el("a", { class: "skip", href: "#detail", onclick: (event) => { event.preventDefault(); detail.focus(); } }, "skip to the evidence"), main);
    window.addEventListener("hashchange", choose);
    document.addEventListener("keydown", (event) => {
        if (!["[", "]"].includes(event.key) || viewer.typing(event) || !all.length) return;
        const now = all.findIndex(({ id }) => rows.get(id).getAttribute("aria-current") === "true");
        location.hash = all[(now + (event.key === "]" ? 1 : all.length - 1)) % all.length].id;
    });
    if (!choose() && all.length) {
        // What people want to see first: what is wrong, then what could be proved for the most.
        show(all.find(({ result }) => result.verdict === "violated") || all.find(({ result }) => result.verdict === "unknown") || all.find(({ result }) => result.outline && (result.outline.processes.length || (result.outline.always || []).length)) || all[0]);
    }
})();
