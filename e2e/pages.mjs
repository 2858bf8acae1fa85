// Helix's own pages in a browser, as a person has them: getting in, the board, a job, answers, proof, without JavaScript, on a phone.
// Started by `cargo xtask e2e`, which says where everything is. The steps build on each other.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const place = JSON.parse(process.env.HELIX_E2E);
const packages = createRequire(path.join(place.packages, 'package.json'));
const { chromium } = packages('playwright-core');
const axe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');

/** How long the page and the jobs may take, in milliseconds. The machine may be busy. */
const LIMIT = 60_000;
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

const browser = await chromium.launch({
  executablePath: place.chromium,
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/** Whatever a page asks of elsewhere or says to its console, and what keeps people from using it. */
const wrong = [];

async function context(more = {}) {
  const made = await browser.newContext({ viewport: WIDE, locale: 'en-US', colorScheme: 'light', ...more });
  made.setDefaultTimeout(LIMIT);
  made.on('request', (request) => { if (!request.url().startsWith(place.helix)) wrong.push(`${request.url()} was asked`); });
  made.on('weberror', (error) => wrong.push(`${error.error()}`));
  made.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('401')) wrong.push(message.text()); });
  return made;
}

/** Runs a command of Helix. */
function helix(...words) {
  const ran = spawnSync(place.program, words, { encoding: 'utf8', cwd: place.repo });
  assert.equal(ran.status, 0, `helix ${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout.trim();
}

const submit = (plan) => JSON.parse(helix('--json', 'run', `plans/${plan}/phases.yaml`, '--detach')).job;
const picture = (page, name) => page.screenshot({ path: path.join(place.pictures, `pages-${name}.png`) });

/** Nothing on the page keeps anybody from using it, and nothing scrolls sideways but code. */
async function usable(page, name) {
  const session = await page.context().newCDPSession(page);
  // In a world of its own: the page's policy lets no other script in.
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    return result.value;
  };
  await evaluate(`${axe}; 0`);
  const found = await evaluate(`axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | ')))`);
  wrong.push(...found.map((one) => `${name}: ${one}`));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) wrong.push(`${name} is ${wide} px wider than the window`);
  await session.detach();
}

/** A page in both lights and both sizes. */
async function everywhere(page, address, name) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of [['wide', WIDE], ['phone', PHONE]]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      if (address) await page.goto(place.helix + address);
      await usable(page, `${name} ${colorScheme} ${size}`);
      await picture(page, `${name}-${colorScheme}-${size}`);
    }
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light' });
}

async function step(name, work) {
  const begun = performance.now();
  try {
    await work();
  } catch (error) {
    await picture(page, 'trouble');
    throw error;
  }
  console.error(`pages: ${name}: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}

const desk = await context();
const page = await desk.newPage();
const jobs = {};

await step('nobody gets in without an address, which works once', async () => {
  await page.goto(`${place.helix}/`);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await everywhere(page, '/', 'login');
  const address = helix('open', '--print');
  await page.goto(address);
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  const other = await context();
  const stranger = await other.newPage();
  await stranger.goto(address);
  await stranger.getByText('has been used').waitFor();
  await other.close();
});

await step('an empty board says how to begin', async () => {
  await page.getByText('helix demo').waitFor();
  await everywhere(page, '/', 'begin');
});

await step('the board shows what comes, without a reload', async () => {
  await page.goto(`${place.helix}/`);
  await page.evaluate(() => { window.mark = 'here'; });
  jobs.discount = submit('discount');
  jobs.labels = submit('labels');
  jobs.receipt = submit('receipt');
  jobs.export = submit('export');
  const lane = (name) => page.locator(`#lane-${name}`);
  await lane('needs').getByText('Discounts on the basket').waitFor();
  await lane('needs').getByText('Should the receipt show the tax').waitFor();
  await lane('needs').getByText('Export of prices').waitFor();
  await lane('running').getByText('Labels in German').waitFor();
  assert.equal(await page.evaluate(() => window.mark), 'here', 'the page was not loaded again');
  await everywhere(page, '/', 'board');
});

await step('a question is answered on the board by whoever is logged in', async () => {
  await page.goto(`${place.helix}/`);
  const card = page.locator(`#job-${jobs.receipt}`);
  await card.getByRole('button', { name: 'Of each item' }).click();
  await page.locator('#lane-proven').getByText('Receipt').waitFor();
  await page.locator('#lane-needs').getByRole('button', { name: 'Accept the result' }).waitFor();
  await page.goto(`${place.helix}/`);
  await picture(page, 'board');
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'board-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await picture(page, 'phone');
  await page.setViewportSize(WIDE);
  await page.goto(`${place.helix}/jobs/${jobs.receipt}?tab=evidence`);
  await page.getByText('(browser)').first().waitFor();
});

await step('a job shows all that happened, and keys lead through it', async () => {
  await page.goto(`${place.helix}/`);
  await page.keyboard.press('j');
  assert.ok(await page.evaluate(() => document.activeElement.matches('a.open')), 'j goes to a job');
  await page.keyboard.press('/');
  await page.keyboard.type('discounts');
  assert.equal(await page.locator('.card:visible').count(), 1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/jobs/${jobs.discount}**`);
  await page.getByRole('heading', { name: 'Discounts on the basket' }).waitFor();
  await page.getByRole('link', { name: /Write the discount/ }).first().click();
  await page.waitForURL('**phase=discount');
  await page.locator('.phase').getByText('passed').first().waitFor();
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await page.getByText('half cents have to be rounded down').waitFor();
  await page.locator('.item.tool summary').first().click();
  await everywhere(page, null, 'activity');
  await page.getByRole('link', { name: 'Changes', exact: true }).click();
  await page.getByText('shop/discount.py').first().waitFor();
  await page.getByRole('link', { name: 'attempt 2' }).click();
  await page.locator('.diff mark').first().waitFor();
  await everywhere(page, null, 'changes');
  await picture(page, 'changes');
  await page.getByRole('link', { name: 'attempt 1' }).click();
  await page.getByRole('link', { name: 'Checks', exact: true }).click();
  await page.getByText('failed').first().waitFor();
  await everywhere(page, null, 'checks');
  await page.getByRole('link', { name: 'Prompt', exact: true }).click();
  await page.locator('pre.prompt', { hasText: 'Make baskets cheaper' }).waitFor();
  await usable(page, 'prompt');
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await page.waitForURL('**/questions');
});

await step('what an agent does comes live', async () => {
  await page.goto(`${place.helix}/jobs/${jobs.labels}?tab=activity`);
  await page.getByText('I read the labels first.').waitFor();
  await page.locator('.item.tool', { hasText: 'sleep 0.1' }).locator('.running').waitFor();
  await everywhere(page, null, 'live');
  writeFileSync(path.join(place.shared, 'go'), '');
  await page.locator('.item.tool', { hasText: 'docs/labels.md' }).locator('.passed').first().waitFor();
  await page.locator('.job-head').getByText('succeeded').first().waitFor();
});

await step('a result is looked at and approved, and its proof opened, without JavaScript', async () => {
  await everywhere(page, '/questions', 'questions');
  const plain = await context({ javaScriptEnabled: false, storageState: await desk.storageState() });
  const bare = await plain.newPage();
  await bare.goto(`${place.helix}/questions`);
  await bare.getByRole('link', { name: 'See what changed' }).click();
  await bare.getByText('docs/discount.md').first().waitFor();
  await bare.goto(`${place.helix}/questions`);
  await bare.getByRole('button', { name: 'Accept the result' }).click();
  await bare.waitForURL('**/questions');
  await plain.close();
  await page.goto(`${place.helix}/jobs/${jobs.discount}?phase=discount&tab=evidence`);
  await page.locator('.job-head').getByText('succeeded').first().waitFor();
  await page.reload();
  await page.locator('.proof').getByText('proved', { exact: true }).first().waitFor();
  await everywhere(page, null, 'evidence');
  await picture(page, 'evidence');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download the evidence' }).click()]);
  const bundle = path.join(place.pictures, 'evidence.json');
  await download.saveAs(bundle);
  assert.match(helix('verify', bundle), /proved/);
});

await step('a failed job is resumed and cancelled, a phase is retried', async () => {
  await page.goto(`${place.helix}/jobs/${jobs.export}`);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.timeline').getByText('(browser)').first().waitFor();
  await page.locator('.job-head').getByText('failed').first().waitFor();
  await everywhere(page, `/jobs/${jobs.export}`, 'failed');
  await page.getByText('Retry…').click();
  await page.getByRole('button', { name: 'Run the phase again' }).click();
  await page.locator('.timeline').getByText('attempt 3').waitFor();
  jobs.second = submit('discount');
  await page.goto(`${place.helix}/`);
  const card = page.locator(`#job-${jobs.second}`);
  await card.getByText('Cancel…').click();
  await card.getByRole('button', { name: 'Cancel the job' }).click();
  await page.locator('#lane-otherwise').locator(`#job-${jobs.second}`).waitFor();
});

await step('decisions, this host, and German', async () => {
  await everywhere(page, '/decisions', 'decisions');
  await page.goto(`${place.helix}/decisions`);
  await page.getByRole('link', { name: /Discounts on the basket/ }).click();
  await page.getByRole('heading', { name: 'Acceptance criteria' }).waitFor();
  await everywhere(page, null, 'decision');
  await picture(page, 'decision');
  await everywhere(page, '/system', 'system');
  const other = await context({ locale: 'de-DE', storageState: await desk.storageState() });
  const german = await other.newPage();
  await german.goto(`${place.helix}/`);
  await german.getByRole('heading', { name: 'Übersicht' }).waitFor();
  await picture(german, 'german');
  await other.close();
});

await step('pictures for the documentation', async () => {
  await page.goto(`${place.helix}/jobs/${jobs.discount}?phase=discount&tab=activity`);
  await picture(page, 'job');
});

await step('who logs out is out everywhere', async () => {
  const second = await context({ storageState: await desk.storageState() });
  const tab = await second.newPage();
  await tab.goto(`${place.helix}/`);
  await tab.getByRole('heading', { name: 'Board' }).waitFor();
  await page.goto(`${place.helix}/`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await tab.goto(`${place.helix}/`);
  await tab.getByRole('heading', { name: 'Log in' }).waitFor();
  await second.close();
});

await browser.close();
assert.deepEqual(wrong, [], wrong.join('\n'));
