// Bundles the extension and what it uses into dist/extension.js, and the licences of what it uses into dist/licences.txt.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");

// `vscode` is what the editor itself provides.
const { metafile } = esbuild.buildSync({
  entryPoints: ["extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  target: "node18",
  external: ["vscode"],
  absWorkingDir: __dirname,
  metafile: true,
});

const folders = new Set();
for (const input of Object.keys(metafile.inputs)) {
  const found = input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/);
  if (found) {
    folders.add(found[0]);
  }
}
const parts = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(fs.readFileSync(path.join(__dirname, folder, "package.json"), "utf8"));
  const file = fs.readdirSync(path.join(__dirname, folder)).find((each) => /^licen[cs]e/i.test(each));
  if (!file) {
    throw new Error(`${name} ${version} is bundled, and has no licence`);
  }
  return `${name} ${version}\n\n${fs.readFileSync(path.join(__dirname, folder, file), "utf8").trim()}\n`;
});
fs.writeFileSync(path.join(__dirname, "dist", "licences.txt"), parts.join(`\n${"-".repeat(72)}\n\n`));
