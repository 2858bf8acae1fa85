// Further flows: a story in German, several accounts, connections that were set up otherwise, and a Helix that goes away.

import assert from 'node:assert/strict';
import path from 'node:path';

import { Helix, until } from './helix.mjs';
import { Host } from './host.mjs';
import { ChatPage, openBrowser } from './page.mjs';

/** How long an agent may take for an answer, in milliseconds. */
const TURN = 120_000;
/** How long a job of one phase may take, in milliseconds. */
const JOB = 300_000;

/** Words of Helix that must not stand in a German page. */
const ENGLISH = /Answered|Phase \d+ of|succeeded|waits for you|\d tools?|Read |Wrote |attempt|Follow-up|usage limit|Attempts/;

export function furtherFlows({ chat, page, helix, place, picture, accounts, counted }) {
  let other;

  /** A second Helix in the same Open WebUI, connected by the command, which keeps the key. */
  async function second() {
    if (other) return other;
    const host = new Host(place, 'second', (settings) => settings.replace('follow_jobs = "10m"', 'follow_jobs = "2s"'));
    await host.start();
    other = { host, helix: new Helix({ url: host.url, token: host.token, model: place.model }) };
    // Two connections offer the same model: one of them needs a prefix, which only the administrator can choose.
    const open = await accounts.api('/openai/config');
    const number = open.OPENAI_API_BASE_URLS.push(`${host.url}/v1`) - 1;
    open.OPENAI_API_KEYS.push(host.token);
    open.OPENAI_API_CONFIGS[number] = { enable: true, prefix_id: 'second' };
    await accounts.api('/openai/config/update', open);
    const said = host.run(['openwebui', 'connect', place.page, '--news'], { OPENWEBUI_TOKEN: accounts.token });
    assert.match(said, /all headers arrive/);
    assert.match(host.run(['openwebui', 'connect', place.page], { OPENWEBUI_TOKEN: accounts.token }), /nothing to change/);
    return other;
  }

  /** Every word of Helix is German, and nothing of its inside is to be seen. */
  async function german() {
    await chat.say('Schreib bitte eine Notiz über den Hafen.');
    await chat.answered('Die Notiz ist fertig', TURN);
    assert.match(await chat.status.innerText(), /^Beantwortet · 1 Werkzeug · [\d,]+ s · 0,\d+ \$$/);
    await chat.answer.getByText('View Result from note.md geschrieben').waitFor();
    const link = await chat.answer.getByRole('link', { name: 'Notiz' }).getAttribute('href');
    assert.ok(link.startsWith(`${place.helix}/helix/files/`), link);
    assert.equal(await (await fetch(link)).text(), '# Hafen\n\nDer Leuchtturm ist grün.\n');
    await picture('german-note');
    await until('the title', TURN, async () => (await page.title()).includes('Schreib bitte eine Notiz'));

    await chat.say('Mach jetzt bitte die Preisliste dazu.');
    await chat.answered('Antworte hier im Chat', JOB);
    assert.match(await chat.status.innerText(), /^preisliste wartet auf dich: Phase drucken \(Die Liste drucken\) beginnen\?/);
    await page.getByText('Ja.', { exact: true }).first().waitFor();
    await picture('german-question');
    const texts = [await chat.text()];
    await page.getByText('Ja.', { exact: true }).first().click();
    await chat.answered('Job preisliste war erfolgreich', JOB);
    await picture('german-done');
    texts.push(await chat.text(), await chat.status.innerText());

    await chat.say('Fasse bitte alle meine Briefe zusammen.');
    await chat.reads('Limit', TURN);
    await chat.idle();
    assert.equal(await chat.status.innerText(), 'Mit einem Fehler beendet');
    texts.push(await chat.text());
    assert.match(texts.at(-1), /in 2 Stunden, um \d\d:\d\d Uhr/);
    assert.equal(texts.at(-1).match(/limit/gi).length, 1, `told once: ${texts.at(-1)}`);
    await picture('german-limit');
    for (const text of texts) assert.doesNotMatch(text, ENGLISH);
    // How it looks to somebody whose page is German, too.
    await page.evaluate(() => localStorage.setItem('locale', 'de-DE'));
    await page.reload();
    await chat.answer.waitFor();
    await picture('german-page');
    await page.evaluate(() => localStorage.setItem('locale', 'en-US'));
  }

  /** Whoever deletes a message wants it forgotten. */
  async function forget() {
    await chat.say('Remember the word apple.');
    await chat.answered('Apple it is.', TURN);
    await chat.say('Remember the word pear.');
    await chat.answered('Pear it is.', TURN);
    await chat.say('Remember the word plum.');
    await chat.answered('Plum it is.', TURN);
    await chat.remove(1);
    await chat.say('Which words do you know?');
    await chat.answered('These.', TURN);
    const asked = (await helix.asked('scene words')).at(-1);
    assert.ok(['apple', 'plum'].every((word) => asked.includes(`the word ${word}`)) && !asked.includes('the word pear'), asked);
    await picture('forgotten');
  }

  /** What Helix says below code that the agent left open is no code, and what an agent says is no note of Helix. */
  async function openCode() {
    await chat.say('Carve the sign.');
    await chat.answered('Job sign succeeded', JOB);
    await chat.answer.locator('table').waitFor();
    assert.doesNotMatch(await chat.text(), /\[!NOTE\]|\| ---/);
    assert.match(await chat.text(), /“Helix:” Job moon succeeded/, 'an agent writes no note of Helix');
    await picture('open-code');
  }

  /** An administrator who entered address and key alone sees the same, and what to do. */
  async function bare() {
    await chat.begin({ models: 'bare.helix' });
    await chat.say('Write a note about the harbour.');
    await chat.answered('The note is there.', TURN);
    await chat.reads('sends Helix none of its headers');
    assert.match(await chat.status.innerText(), /^Answered · 2 tools/);
    await chat.answer.getByText(/Wrote note\.md, Read note\.md/).waitFor();
    await picture('bare');
    await chat.say('Count the ships.');
    await chat.reads('One ship', TURN);
    const pressed = performance.now();
    await chat.stopButton.click();
    await until('the end of the turn', 5_000, async () => {
      const [newest] = await helix.sessions();
      return (await helix.get(`/api/v1/sessions/${newest.id}`)).turns.every((turn) => turn.end);
    });
    assert.ok(performance.now() - pressed < 3_000, 'Stop works without headers');
  }

  /** Two people behind one connection say the same, and have nothing in common. */
  async function accountsApart() {
    await accounts.add('Berta', 'berta@example.org');
    const browser = await openBrowser({ packages: place.packages, chromium: place.chromium, profile: `${place.profile}-2`, tall: 800 });
    try {
      const theirs = browser.pages()[0] ?? (await browser.newPage());
      const berta = new ChatPage(theirs, place.page);
      await berta.enter('berta@example.org');
      await theirs.getByText('Turns a conversation into a decision').first().waitFor();
      for (const one of [chat, berta]) {
        await one.say('Write a note about the harbour.');
        await one.answered('The note is there.', TURN);
      }
      const sessions = await Promise.all([chat, berta].map(async (one) => helix.settled(await one.chat())));
      assert.equal(new Set(sessions.map((one) => one.directory)).size, 2);
      assert.equal(new Set(sessions.map((one) => one.key.split(':')[1])).size, 2, 'the users are in the keys');
      await theirs.screenshot({ path: path.join(place.pictures, 'second-account.png') });
      counted.conversations += 1;
    } finally {
      await browser.close();
    }
  }

  /** What an agent says while Helix is away reaches the person, once. */
  async function away() {
    const { host, helix: its } = await second();
    counted.conversations -= 1;
    await chat.begin({ models: 'second.helix' });
    await chat.say('Tell me the story.');
    await chat.reads('Once upon', TURN);
    const before = (await its.asked('scene story')).length;
    await host.end('SIGKILL');
    await chat.idle();
    await picture('killed');
    await host.start();
    const id = await chat.chat();
    await its.settled(id);
    await chat.again();
    await chat.answered('the story ends here.', TURN);
    await picture('killed-again');
    assert.equal((await its.asked('scene story')).length, before, 'nothing was asked for twice');

    await chat.say('Tell me of the ship.');
    await chat.reads('A ship', TURN);
    await host.end('SIGKILL');
    await chat.idle();
    await host.start();
    await its.settled(id);
    await chat.say('What is its name?');
    await chat.answered('Nobody knows.', TURN);
    const text = await chat.text();
    assert.match(text, /The answer to your earlier message “Tell me of the ship\.” did not reach you/);
    assert.match(text, /came home\.[^]*Nobody knows\./);
    await picture('killed-next');

    await chat.say('Tell me of the whale.');
    await chat.reads('A whale', TURN);
    await host.end('SIGTERM');
    await chat.idle();
    assert.match(await chat.status.innerText(), /the agent goes on/);
    await picture('terminated');
    await host.start();
    await its.settled(id);
    await chat.again();
    await chat.answered('swam away.', TURN);
  }

  /** The composer is free while a job goes on, and the page still learns what becomes of it. */
  async function news() {
    const { helix: its } = await second();
    counted.conversations -= 1;
    await chat.begin({ models: 'second.helix' });
    await chat.say('Build the raft.');
    await chat.answered('It goes on without this page', TURN);
    const id = await chat.chat();
    const [job] = (await its.session(id)).jobs;
    assert.notEqual((await its.get(`/api/v1/jobs/${job}`)).status, 'succeeded');
    await until('the line to go on', JOB, async () => (await chat.status.innerText()).includes('Tie the logs: '));
    await picture('news-running');
    await until('the end in the line above the answer', JOB, async () => (await chat.status.innerText()).startsWith('raft succeeded'));
    await page.locator('[data-sonner-toast]', { hasText: 'raft succeeded' }).waitFor();
    await picture('news-over');
    await page.reload();
    await until('the line after a reload', TURN, async () => (await chat.status.count()) && (await chat.status.innerText()).startsWith('raft succeeded'));
    await chat.say('Does it swim?');
    await chat.answered('It does.', TURN);
    assert.match(await chat.text(), /Job raft succeeded[^]*It does\./);
    await picture('news-next');
  }

  return {
    flows: [
      ['a whole story in German', german],
      ['a message is deleted and forgotten', forget],
      ['a job below an open code block', openCode],
      ['address and key only', bare],
    ],
    // Those that need the entries of `helix openwebui connect`.
    afterConnect: [
      ['two accounts say the same', accountsApart],
      ['Helix ends during an answer', away],
      ['news of a job after its answer', news],
    ],
    end: async () => other?.host.end('SIGTERM'),
  };
}
