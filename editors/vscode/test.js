// Loads an unpacked package as an editor does, with the editor's module replaced, and lets it check a model with the real program:
//
//   node test.js FOLDER PROGRAM
//
// FOLDER is `extension` of an unpacked .vsix, PROGRAM is `threadwise`. Nothing but the files of FOLDER is used.

"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const [folder, program] = process.argv.slice(2).map((each) => path.resolve(each));
const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));

// What is not named below is a class or a function that does nothing, and whose results do nothing.
function nothing() {
  const target = class {
    dispose() {}
  };
  const it = new Proxy(target, {
    get: (of, name) => {
      if (name === "then" || name === Symbol.iterator) {
        return undefined;
      }
      if (name === Symbol.toPrimitive) {
        return () => 0;
      }
      return name in of || typeof name === "symbol" ? of[name] : (of[name] = nothing());
    },
    apply: () => nothing(),
    construct: (of, args, made) => (made === it ? part({ dispose() {} }) : Reflect.construct(of, args, made)),
  });
  return it;
}
function part(known) {
  return new Proxy(known, { get: (of, name) => (name in of ? of[name] : name === "then" ? undefined : (of[name] = nothing())) });
}

const event = () => ({ dispose() {} });

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = "file";
    this.fsPath = text.replace("file://", "");
  }
  toString() {
    return this.text;
  }
}

class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: event };
  }
  cancel() {}
  dispose() {}
}
class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (listener, self) => {
      const bound = listener.bind(self);
      this.listeners.push(bound);
      return { dispose: () => void (this.listeners = this.listeners.filter((each) => each !== bound)) };
    };
  }
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose() {
    this.listeners = [];
  }
}

const model = {
  uri: new Uri("file:///lock.tw"),
  languageId: "threadwise",
  version: 1,
  isClosed: false,
  getText: () => fs.readFileSync(path.join(__dirname, "../../models/mux_sem_try.tw"), "utf8"),
};
let settings;
const commands = new Map();
const errors = [];
const said = [];
const vscode = part({
  workspace: part({
    getConfiguration: () => ({ get: (key, otherwise) => settings[key] ?? otherwise }),
    textDocuments: [model],
    notebookDocuments: [],
    workspaceFolders: undefined,
    onDidOpenTextDocument: event,
    onDidChangeConfiguration: event,
  }),
  window: part({
    activeTextEditor: { document: model },
    visibleTextEditors: [],
    tabGroups: part({ all: [], onDidChangeTabs: event }),
    createOutputChannel: () => part({ append() {}, appendLine() {}, show() {}, dispose() {} }),
    showErrorMessage: async (text) => void errors.push(text),
    showWarningMessage: async (text) => void errors.push(text),
    showInformationMessage: async (text) => void said.push(text),
    setStatusBarMessage: (text) => void said.push(text),
  }),
  commands: part({
    registerCommand: (name, command) => {
      commands.set(name, command);
      return { dispose: () => commands.delete(name) };
    },
  }),
  languages: part({ match: (selector, document) => (document.languageId === "threadwise" ? 10 : 0) }),
  env: part({ language: "en", appName: "test" }),
  version: "1.82.0",
  CancellationTokenSource,
  EventEmitter,
  Uri: part({ file: (name) => new Uri(`file://${name}`), parse: (text) => new Uri(text) }),
});

const load = Module._load;
Module._load = (request, ...rest) => (request === "vscode" ? vscode : load(request, ...rest));

async function main() {
  for (const file of [
    manifest.main,
    manifest.contributes.languages[0].configuration,
    manifest.contributes.grammars[0].path,
    "dist/licences.txt",
    "LICENSE-MIT",
    "LICENSE-APACHE",
  ]) {
    assert.ok(fs.statSync(path.join(folder, file)).size > 0, file);
  }
  assert.match(fs.readFileSync(path.join(folder, "dist/licences.txt"), "utf8"), /^vscode-languageclient 9/m);
  const extension = require(path.join(folder, manifest.main));

  // Without the program: it says so, and what to do.
  settings = { path: path.join(folder, "no-such-program") };
  const context = { subscriptions: [] };
  await extension.activate(context);
  const before = errors.length;
  assert.match(errors[before - 1], /no-such-program lsp` cannot be started: .*setting threadwise\.path/);
  // Every command that the manifest offers is there, and no other.
  const offered = manifest.contributes.commands.map((each) => each.command).sort();
  assert.deepStrictEqual([...commands.keys()].sort(), offered);

  // With it, after a restart: the real language server checks the model in the editor.
  settings = { path: program, "check.timeout": 60 };
  await commands.get("threadwise.restart")();
  assert.strictEqual(errors.length, before, String(errors));
  await commands.get("threadwise.checkAll")();
  assert.strictEqual(said.length, 1, String(said));
  assert.match(said[0], /mutex: violated/);
  assert.match(said[0], /checks: proved/);
  await extension.deactivate();
  console.log(`the extension says: ${said[0]}`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
