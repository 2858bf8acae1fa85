// A Helix of its own beside the one that most flows talk with, for flows that end it or set it up otherwise. Must not know the page.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

export class Host {
  /** `settings` changes the text of the first one's `helix.toml`. */
  constructor(place, name, settings) {
    const home = place.environment.HOME;
    const root = path.join(home, '..', name);
    mkdirSync(path.join(root, 'config/helix'), { recursive: true });
    const given = readFileSync(path.join(home, '.config/helix/helix.toml'), 'utf8');
    writeFileSync(path.join(root, 'config/helix/helix.toml'), settings(given));
    this.program = place.program;
    this.environment = { ...process.env, HELIX_STATE_DIR: path.join(root, 'state'), XDG_CONFIG_HOME: path.join(root, 'config') };
  }

  /** Starts `helix serve`, always at the same address. */
  async start() {
    this.port ??= await freePort();
    this.process = spawn(this.program, ['serve', '--json', '--listen', `127.0.0.1:${this.port}`], {
      env: this.environment, stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.ended = new Promise((resolve) => this.process.on('exit', resolve));
    const lines = createInterface(this.process.stdout);
    const said = JSON.parse(await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('`helix serve` did not say where it is')));
    }));
    this.url = said.url;
    this.token = readFileSync(said.token_file, 'utf8').trim();
  }

  /** Ends it with a signal. */
  async end(signal) {
    this.process.kill(signal);
    await this.ended;
  }

  /** Runs a command of its own. */
  run(words, more = {}) {
    const ran = spawnSync(this.program, words, { env: { ...this.environment, ...more }, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`helix ${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
