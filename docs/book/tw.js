// The threadwise language for the highlighter of mdBook, which does not know it; and above each model what its mark says of it.
"use strict";
(() => {
    const words = "param where enum record type shared local process ordered ring def macro initially invariant deadlock_free fairness liveness under exception "
        + "unconditional weak strong if then else await assert skip stay havoc lock unlock start goto break return choose or while loop for in "
        + "atomic forall exists count sum min max of at any";
    hljs.registerLanguage("tw", (hljs) => ({
        keywords: {
            keyword: words,
            literal: "true false none",
            built_in: "cas swap fetch_add next prev locked enabled taken send receive length empty full peek bool int mutex array queue",
        },
        contains: [
            { className: "meta", begin: /\/\/@/, end: /$/ },
            hljs.C_LINE_COMMENT_MODE,
            hljs.C_BLOCK_COMMENT_MODE,
            { className: "symbol", begin: /^\s*[A-Za-z_]\w*:(?!=)/ },
            { className: "number", begin: /\b\d+\b/ },
        ],
    }));
    const says = {
        error: (codes) => `not a model: ${codes.replaceAll("+", ", ")}`,
        file: (name) => name,
        states: (number) => `${number} states`,
        violated: (names) => `violates ${names.replaceAll("+", ", ")}`,
        warning: (codes) => `with a warning: ${codes.replaceAll("+", ", ")}`,
    };
    for (const block of document.querySelectorAll("code.language-tw")) {
        const marks = [...block.classList].map((mark) => mark.split("=")).filter(([name]) => name in says);
        block.textContent = block.textContent;
        hljs.highlightBlock(block);
        if (marks.length > 0) {
            const caption = document.createElement("div");
            caption.className = "tw-mark";
            // Of a file, which the reader is to try, only the name.
            const shown = marks.find(([name]) => name === "file") || marks[0];
            caption.textContent = says[shown[0]](shown[1]);
            block.closest("pre").before(caption);
        }
    }
})();
