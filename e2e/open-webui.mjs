// Open WebUI in a browser with Helix behind it, as a user has both: what the page shows, and what Helix's own API says of it.
// Started by `cargo xtask e2e`, which says where everything is. Every flow is a chat of its own; a failed one does not keep the others from running.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { Helix, until } from './helix.mjs';
import { Accounts, ChatPage, openBrowser } from './page.mjs';
import { furtherFlows } from './persons.mjs';

/** How long a stopped turn may go on, in milliseconds. */
const STOP = 2_000;
/** How long an agent may take for an answer, in milliseconds. */
const TURN = 120_000;
/** How long a job of two phases may take, in milliseconds. */
const JOB = 300_000;

const place = JSON.parse(process.env.HELIX_E2E);
const helix = new Helix({ url: place.helix, token: place.token, model: place.model });
const browser = await openBrowser({ packages: place.packages, chromium: place.chromium, profile: place.profile, tall: 800 });
const page = browser.pages()[0] ?? (await browser.newPage());
const chat = new ChatPage(page, place.page);
const accounts = new Accounts(place.page);
/** Conversations that are to be there at the end. */
const counted = { conversations: 0 };
mkdirSync(place.pictures, { recursive: true });

const picture = (name) => page.screenshot({ path: path.join(place.pictures, `${name}.png`) });
const last = (list) => list.at(-1);

const further = furtherFlows({ chat, page, helix, place, picture, accounts, counted });

const flows = [
  ['first message, follow-up, regenerate, edit', conversation],
  ['stop', stop],
  ['reload while running', reload],
  ['an answer is continued', goOn],
  ['a temporary chat', temporary],
  ['an image', image],
  ['a text file', textFile],
  ['an older message is edited, an older answer forked', fork],
  ['two models in one chat', twoModels],
  ['a connection in the responses form, with a job', responses],
  ['a failing turn', failure],
  ['a job started and watched live', job],
  ['a job asks and is answered in the chat', question],
  ['watching is stopped, the job goes on', leave],
  ['a message is sent while a job is watched', sendNow],
  ...further.flows,
  ['helix openwebui connect', connect],
  ...further.afterConnect,
];

/** Thinking, tools, status and usage stand where Open WebUI has places for them; every click lands at the right place of the agent's session. */
async function conversation() {
  await chat.say('Write a note about the harbour.');
  await chat.answered('The note is there.', TURN);
  const id = await chat.chat();
  assert.match(await chat.status.innerText(), /^Answered/);

  await chat.answer.getByText(/^Thought for/).click();
  await chat.answer.getByText('I write it into a file and read it back.').waitFor();
  const tools = chat.answer.getByRole('button', { name: 'Toggle details' });
  assert.match(await tools.innerText(), /Explored\s+Wrote note\.md, Read note\.md/);
  await tools.click();
  const calls = chat.answer.getByText(/^View Result from/);
  assert.deepEqual(await calls.allInnerTexts(), ['View Result from Wrote note.md', 'View Result from Read note.md']);
  await calls.first().click();
  await chat.answer.getByText('The lighthouse is green.').first().waitFor();
  await picture('first-message');
  assert.ok(!(await chat.text()).includes('STEP'), 'the marker is not for the user');
  assert.match(await chat.answer.locator('[id^="usage-"]').textContent(), /cost: 0\.\d+/);
  await page.getByText('Write a note about the harbour.', { exact: true }).first().waitFor();
  await until('the title', TURN, async () => (await page.title()).includes('Write a note about the harbour'));

  const first = await helix.settled(id);
  assert.equal(first.turns.length, 1, 'background tasks are no turns [14]');
  assert.equal(readFileSync(path.join(first.directory, 'note.md'), 'utf8'), '# Harbour\n\nThe lighthouse is green.\n');

  // The next picture is the documentation's: an answer with everything, and one after it.
  await calls.first().click();
  await chat.say('Which colour has the lighthouse?');
  await chat.answered('Green, says the note.', TURN);
  await picture('follow-up');

  await chat.again();
  await chat.answered('It is green, like the note says.', TURN);
  assert.match(await chat.answer.innerText(), /2\s*\/\s*2/, 'both answers can be leafed through');
  await picture('regenerate');
  const again = last(await helix.asked('scene colour take 2'));
  assert.ok(again.includes('The note is there.'), 'what was said before is known');
  assert.ok(!again.includes('Green, says the note.'), 'the other answer is not');

  await chat.edit('Who keeps the lighthouse?');
  await chat.answered('Nobody is named.', TURN);
  await picture('edit');
  const edited = last(await helix.asked('scene keeper'));
  assert.ok(edited.includes('The note is there.') && edited.includes('tool_use'), 'tool calls before it are known, too');
  assert.ok(!edited.includes('Which colour'), 'the message that was edited away is not');

  const { turns, branches, agent } = await helix.settled(id);
  assert.equal(agent, 'claude');
  assert.deepEqual(turns.map((turn) => turn.number), [1, 2, 3, 4]);
  assert.deepEqual(turns.slice(1).map((turn) => turn.parent), [turns[0].id, turns[0].id, turns[0].id]);
  assert.equal(branches.length, 3, JSON.stringify(branches));
}

/** Stop ends the agent, and the agent is told of it. */
async function stop() {
  await chat.say('Count the ships.');
  await chat.reads('One ship', TURN);
  const id = await chat.chat();
  assert.ok((await helix.session(id)).turns.every((turn) => !turn.end), 'the turn is under way');
  const pressed = performance.now();
  await chat.stopButton.click();
  const stopped = await helix.settled(id, STOP);
  const took = performance.now() - pressed;
  console.log(`  stopped after ${Math.round(took)} ms`);
  assert.ok(took < STOP, `the turn went on for ${took} ms`);
  assert.ok(last(stopped.turns).end.answer.startsWith('One ship'), 'what was said so far is kept [12]');
  await chat.idle();
  assert.match(await chat.text(), /^One ship/);
  assert.ok(!(await chat.text()).includes('last ship of all'));
  assert.equal(await chat.shimmering.count(), 0, 'nothing looks as if it went on');
  await picture('stop');

  await chat.say('How many ships did you see?');
  await chat.answered('You stopped me before I was through.', TURN);
  assert.match(last(await helix.asked('scene after the stop')), /stopped your last answer/);
  assert.equal((await helix.settled(id)).turns.length, 2);
}

/** A page that is loaded again finds its answer where it is by then. */
async function reload() {
  await chat.say('Tell me the story.');
  await chat.reads('Once upon', TURN);
  const id = await chat.chat();
  await page.reload();
  await chat.reads('Once upon', TURN);
  const { turns } = await helix.session(id);
  assert.ok(turns.length === 1 && !turns[0].end, 'the page was there again before the answer was through');
  await chat.stopButton.waitFor();
  await picture('reload-running');
  await chat.answered('the story ends here.', TURN);
  assert.match(await chat.status.innerText(), /^Answered/);
  await picture('reload-done');
  assert.equal((await helix.asked('scene story')).length, 1, 'nothing was asked for twice');
  assert.equal((await helix.settled(id)).turns.length, 1);
}

/** For the page both are one answer; for Helix the second goes on with the first. */
async function goOn() {
  await chat.say('Count to three.');
  await chat.answered('One, two', TURN);
  await chat.answer.getByRole('button', { name: 'Continue Response' }).click();
  await chat.answered('three.', TURN);
  assert.match(await chat.text(), /^One, two\s*, three\./);
  await picture('continue');
  const { turns } = await helix.settled(await chat.chat());
  assert.deepEqual([turns.length, turns[1].continues], [2, turns[0].id]);
}

/** Nothing of it is kept by Open WebUI, and all temporary chats of a tab have one name: its words tell them apart. */
async function temporary() {
  const before = (await helix.sessions()).length;
  await chat.begin({ temporary: true });
  await chat.say('Is anybody there?');
  await chat.answered('I am here.', TURN);
  await chat.say('Still there?');
  await chat.answered('Still here.', TURN);
  await picture('temporary');
  const sessions = await helix.sessions();
  assert.equal(sessions.length, before + 1);
  assert.match(sessions[0].key, /^temporary:/);
  assert.equal(sessions[0].turn_count, 2);
}

/** An image is a file in the conversation's directory, and the agent is told of it. */
async function image() {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
  const files = { name: 'red.png', mimeType: 'image/png', buffer: Buffer.from(dot, 'base64') };
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.getByRole('img', { name: 'input' }).or(page.locator('img[src^="data:image/png"], img[src*="/files/"]')).first().waitFor();
  await chat.say('What is in the picture?');
  await chat.answered('A red dot.', TURN);
  await picture('image');
  const { turns, directory } = await helix.settled(await chat.chat());
  const [attachment] = turns[0].attachments;
  assert.equal(attachment.media_type, 'image/png');
  assert.ok(readFileSync(path.join(directory, attachment.path)).length > 0);
  assert.ok(last(await helix.asked('scene picture')).includes(attachment.path), 'the agent is told where it is');
}

/** A text file is kept and named once, though the page sends it with each message; the words alone are what the conversation is known by. */
async function textFile() {
  const files = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('alpha beta\nSECRET-CODE 4711\n') };
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.getByText('notes.txt').first().waitFor();
  await chat.say('What is the code in the file?');
  await chat.answered('It is 4711.', TURN);
  await picture('text-file');
  await chat.say('And backwards?');
  await chat.answered('Backwards it is 1174.', TURN);
  const { turns, directory } = await helix.settled(await chat.chat());
  assert.deepEqual(turns.map((turn) => turn.parent ?? null), [null, turns[0].id], 'the second message goes on from the first');
  const [attachment] = turns[0].attachments;
  assert.equal(attachment.name, 'notes.txt');
  assert.match(readFileSync(path.join(directory, attachment.path), 'utf8'), /SECRET-CODE 4711/);
  const asked = last(await helix.asked('scene backwards'));
  assert.equal(asked.split(attachment.path).length, 2, 'the agent is told of it once');
  assert.ok(!asked.includes('SECRET-CODE'), 'and reads it when it needs it');
}

/** Every branch goes on from what it has seen, and so does a chat that was forked from an older answer. */
async function fork() {
  await chat.say('Name a harbour.');
  await chat.answered('Whitby.', TURN);
  await chat.say('Name another one.');
  await chat.answered('Hull.', TURN);
  await chat.edit('Name a lake.', 0);
  await chat.answered('Windermere.', TURN);
  await picture('edit-older');
  const id = await chat.chat();
  const edited = await helix.settled(id);
  assert.deepEqual(edited.turns.map((turn) => turn.parent ?? null), [null, edited.turns[0].id, null]);
  assert.ok(!last(await helix.asked('scene lake')).includes('Whitby'), 'nothing of the other branch is known');
  await chat.say('How deep is it?');
  await chat.answered('Sixty-four metres.', TURN);
  await chat.fork(0);
  assert.ok(!(await page.getByText('Sixty-four metres.').count()), 'the fork ends with the older answer');
  await chat.say('How long is it?');
  await chat.answered('Eighteen kilometres.', TURN);
  await picture('fork');
  counted.conversations += 1;
  const asked = last(await helix.asked('scene length'));
  assert.ok(asked.includes('Windermere.') && !asked.includes('Sixty-four'), 'the fork knows what was said before it, and no more');
  const forked = await helix.settled(await chat.chat());
  assert.equal(forked.turns.length, 1);
  assert.equal((await helix.settled(id)).turns.length, 4, 'the first chat is as it was');
}

/** Two models answer the same message, each on a branch of its own, one after the other. */
async function twoModels() {
  await chat.begin({ models: 'helix,helix:haiku' });
  await chat.say('Which of you is quicker?');
  for (const text of ['The large one thinks twice.', 'The small one is.']) await page.getByText(text).first().waitFor({ timeout: TURN });
  await chat.idle();
  await picture('two-models');
  const { turns, branches } = await helix.settled(await chat.chat());
  assert.deepEqual(turns.map((turn) => turn.model ?? null).sort(), ['haiku', null]);
  assert.deepEqual([turns.length, branches.length], [2, 2]);
}

/** In the other form of the API thinking, tools, status lines and jobs are seen as well. */
async function responses() {
  await chat.begin({ models: 'responses.helix' });
  await chat.say('Whitewash the wall.');
  await chat.answered('Job wall succeeded', JOB);
  assert.match(await chat.text(), /^Explored.*\s*It is being whitewashed\./);
  assert.match(await chat.status.innerText(), /^wall succeeded/);
  assert.equal(await chat.shimmering.count(), 0);
  await picture('responses-job');
  await chat.say('Is it white?');
  await chat.answered('As snow.', TURN);
  await picture('responses-follow-up');
  assert.ok(!last(await helix.asked('scene white')).includes('[!NOTE]'), "Helix's own words are not taken for the agent's");
  const { turns, jobs } = await helix.settled(await chat.chat());
  assert.deepEqual([turns.length, turns[1].parent, jobs.length], [2, turns[0].id, 1]);
}

/** The provider's limit is seen as what it is, with the time of its end, and is no obstacle afterwards. */
async function failure() {
  await chat.say('Summarise all my letters.');
  await chat.reads('usage limit', TURN);
  await chat.answer.getByText('Caution', { exact: false }).first().waitFor();
  await chat.idle();
  assert.equal(await chat.status.innerText(), 'Stopped with an error');
  assert.match(await chat.text(), /usage limit is reached; it ends .*at \d\d:\d\d/);
  await picture('failure');
  const id = await chat.chat();
  const [turn] = (await helix.settled(id)).turns;
  assert.ok(turn.end.facts.rate_limit?.resets_at, JSON.stringify(turn.end.facts));

  await chat.say('Are you there again?');
  await chat.answered('I am here again.', TURN);
  const asked = last(await helix.asked('scene after the limit'));
  assert.ok(!asked.includes('CAUTION'), 'the warning is for the user, not for the agent');
}

/** A conversation becomes a job that goes on by itself; the chat tells how far it is, from the journal. */
async function job() {
  await chat.say('I want to keep my accounts and see each month\'s balance.');
  await chat.answered('In which unit do you count: whole cents or fractions?', TURN);
  await chat.say('Whole cents, in Python. Go ahead and build it.');
  await chat.reads('It is being built now, in two phases.', TURN);
  const id = await chat.chat();
  const { jobs, turns } = await helix.settled(id);
  assert.equal(jobs.length, 1, 'the conversation knows its job');
  assert.ok((await chat.text()).includes(jobs[0]), `the user was told of another job than ${jobs[0]}`);
  assert.ok(turns[1].end.delivery === 'delivered', 'the turn is over, although the page goes on showing what happens');

  // Nobody asks: the page itself shows how the job gets on.
  const seen = new Set();
  await until('the second phase in the line above the answer', JOB, async () => {
    if (await chat.status.count()) seen.add(await chat.status.innerText());
    return [...seen].some((line) => line.startsWith('Phase 2 of 2, '));
  });
  await picture('job-live');
  assert.ok([...seen].some((line) => line.startsWith('Phase 1 of 2, Keep entries: ')), [...seen].join('\n'));
  await chat.answered('Job account-book succeeded, merged into', JOB);
  assert.match(await chat.status.innerText(), /^account-book succeeded, merged into \w+ as [0-9a-f]{10}$/);
  await picture('job-done');
  for (const [shown, holds] of [['diff', '+++ b/report.py'], ['evidence', 'proved, checked again now']]) {
    const link = await chat.answer.getByRole('link', { name: `helix jobs ${shown} ${jobs[0]}` }).getAttribute('href');
    assert.ok((await (await fetch(link)).text()).includes(holds), link);
  }
  await chat.status.click();
  await chat.answer.getByText(/Phase 2 of 2, .*tests_pass failed/).first().waitFor();
  await picture('job-history');
  await chat.status.click();
  const finished = await helix.get(`/api/v1/jobs/${jobs[0]}`);
  assert.equal(finished.status, 'succeeded', JSON.stringify(finished.phases));
  assert.deepEqual(finished.phases.map((phase) => [phase.id, phase.status]), [['book', 'passed'], ['report', 'passed']]);

  await chat.answer.getByRole('button', { name: 'Toggle details' }).click();
  await chat.answer.getByText('View Result from Started the job').waitFor();
  await chat.answer.getByText('View Result from Check plan').first().click();
  await chat.answer.getByText('depends_on').first().waitFor();
  await picture('job-tools');

  await chat.say('How far is it?');
  await chat.answered('is succeeded', TURN);
  await picture('job-asked');
  const asked = last(await helix.asked('scene progress'));
  assert.match(asked, /news of a job of this session/);
  assert.ok(!asked.includes('[!NOTE]'), "Helix's own words are not taken for the agent's");
  const settled = await helix.settled(id);
  assert.deepEqual([settled.turns.length, settled.branches.length], [3, 1], 'no branch for words that Helix added');
}

/** What a job wants to know stands in the chat, and what the user says there reaches the job. */
async function question() {
  await chat.say('Print the price list.');
  await chat.answered('Answer here in the chat', JOB);
  assert.match(await chat.text(), /Job price-list waits for you/);
  assert.match(await chat.status.innerText(), /^price-list waits for you: /);
  await picture('question');
  await chat.say('Yes, it may begin.');
  await chat.answered('Job price-list succeeded', JOB);
  await picture('question-answered');
  const { jobs, turns } = await helix.settled(await chat.chat());
  const [asked] = (await helix.get(`/api/v1/jobs/${jobs[0]}`)).questions;
  assert.deepEqual([asked.status, asked.answer.choice], ['answered', 'approve']);
  assert.match(asked.answer.by, /^\S+ \(chat\)$/);
  assert.equal(turns.length, 2);
}

/** Stop ends what the page shows of a job, not the job; nothing looks as if it went on. */
async function leave() {
  await chat.say('Paint the lighthouse.');
  await chat.reads('The painters are on their way.', TURN);
  await until('the line above the answer', TURN, async () => (await chat.status.count()) && (await chat.status.innerText()).includes('Phase 1 of 1'));
  await chat.stopButton.click();
  await chat.idle();
  assert.equal(await chat.shimmering.count(), 0);
  await picture('watching-stopped');
  const id = await chat.chat();
  await chat.say('Are they through?');
  await chat.answered('Job lighthouse succeeded', JOB);
  assert.match(await chat.status.innerText(), /^lighthouse succeeded/);
  await picture('watching-again');
  await chat.say('Thank you.');
  await chat.answered('You are welcome.', TURN);
  assert.match(await chat.status.innerText(), /^Answered/, 'the note above has told it');
  const { jobs, turns } = await helix.settled(id);
  assert.ok(turns.every((turn) => !turn.end.facts.stopped), 'no turn was stopped');
  assert.equal((await helix.get(`/api/v1/jobs/${jobs[0]}`)).status, 'succeeded');
}

/** A message that is sent while a job is watched ends the watching, not the job, and is answered at once. */
async function sendNow() {
  await chat.say('Tar the boat.');
  await chat.reads('The tar is hot.', TURN);
  await until('the line above the answer', TURN, async () => (await chat.status.count()) && (await chat.status.innerText()).includes('Phase 1 of 1'));
  await chat.sayNow('Is it tight?');
  await chat.reads('Not yet.', TURN);
  await picture('send-now');
  await chat.answered('Job boat succeeded', JOB);
  const { turns, jobs } = await helix.settled(await chat.chat());
  assert.equal(turns.length, 2);
  assert.ok(turns.every((turn) => !turn.end.facts.stopped), 'no turn was stopped');
  assert.equal((await helix.get(`/api/v1/jobs/${jobs[0]}`)).status, 'succeeded');
}

/** The command finds what the documentation says to enter, makes the model's entry, and changes nothing the second time; the chat goes on with it. */
async function connect() {
  const run = () => {
    const env = { ...process.env, ...place.environment, OPENWEBUI_TOKEN: accounts.token };
    const ran = spawnSync(place.program, ['openwebui', 'connect', place.page, '--json'], { env, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
    return JSON.parse(ran.stdout).changes;
  };
  const first = run();
  assert.ok(first.includes('model helix, for all accounts'), JSON.stringify(first));
  assert.deepEqual(run(), []);
  await chat.begin();
  await page.getByText('Turns a conversation into a decision').first().waitFor();
  await picture('connected');
  await chat.say('Is anybody there?');
  await chat.answered('I am here.', TURN);
}

const failed = [];
let chats = 0;
await accounts.first('Anna', 'anna@example.org');
await chat.enter('anna@example.org');
await picture('home');
for (const [name, flow] of flows) {
  if (place.only && !place.only.split(',').some((part) => name.includes(part))) continue;
  chats += 1;
  counted.conversations += 1;
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  try {
    await chat.begin();
    await flow();
    console.log(`ok      ${name} (${seconds()} s)`);
  } catch (error) {
    failed.push(name);
    console.log(`FAILED  ${name} (${seconds()} s): ${error.stack ?? error}`);
    await picture(`failed-${name.replaceAll(/[^a-z]+/g, '-')}`);
  }
}
assert.ok(chats > 0, `no flow is named like ${place.only}; there are: ${flows.map(([name]) => name).join('; ')}`);
if (failed.length === 0) {
  assert.equal((await helix.sessions()).length, counted.conversations, 'one conversation for each chat, none for titles and the like [14]');
}
await further.end();
await browser.close();
process.exitCode = failed.length === 0 ? 0 : 1;
