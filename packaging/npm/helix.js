#!/usr/bin/env node
// Starts the executable that the package of this platform carries.
"use strict";

const { spawn } = require("node:child_process");

const name = `helix-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/helix`);
} catch {
  console.error(`error: ${name} is not installed: Helix runs on Linux (x64, arm64), and npm must not leave out optional packages`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches Helix from the terminal already, and twice would mean more than once; Helix decides when it ends.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
