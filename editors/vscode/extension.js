// Starts `threadwise lsp` and lets it do the rest.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("threadwise");
  const server = { command: settings.get("path", "threadwise"), args: ["lsp"] };
  client = new LanguageClient("threadwise", "threadwise", server, {
    documentSelector: [{ language: "threadwise" }],
    initializationOptions: { check: { timeout: settings.get("check.timeout", 60) } },
    synchronize: { configurationSection: "threadwise" },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const message = `\`${server.command} lsp\` cannot be started: ${error?.message ?? error}. ` +
      "Install threadwise, or say where it is in the setting threadwise.path.";
    vscode.window.showErrorMessage(message);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop();
}

async function checkAll() {
  const document = vscode.window.activeTextEditor?.document;
  if (!client || document?.languageId !== "threadwise") {
    return;
  }
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const results = await client.sendRequest("workspace/executeCommand", {
    command: "threadwise.check",
    arguments: [uri],
  });
  const lines = results.map((result) => `${result.property}: ${result.summary}`);
  vscode.window.showInformationMessage(lines.join("; "));
}

// An error of a request, such as a check that was stopped, is worth a word and no more.
function quietly(command) {
  return async () => {
    try {
      await command();
    } catch (error) {
      vscode.window.setStatusBarMessage(`threadwise: ${error.message}`, 5000);
    }
  };
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("threadwise.restart", quietly(restart)),
    vscode.commands.registerCommand("threadwise.checkAll", quietly(checkAll)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
