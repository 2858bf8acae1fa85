// Open WebUI's chat page as a user handles it. Must not know Helix, nor what any message is about.

import { createRequire } from 'node:module';
import path from 'node:path';

/** How long the page may take for something that needs no agent, in milliseconds. The machine may be busy. */
const PAGE = 60_000;

/** Of all accounts. */
const PASSWORD = 'correct horse';

/** The accounts of an Open WebUI that has none yet. */
export class Accounts {
  constructor(address) {
    this.address = address;
  }

  /** The first one is the administrator's. */
  async first(name, email) {
    this.token = (await this.api('/api/v1/auths/signup', { name, email, password: PASSWORD })).token;
  }

  async add(name, email) {
    await this.api('/api/v1/auths/add', { name, email, password: PASSWORD, role: 'user' });
  }

  /** Asks Open WebUI as the administrator. */
  async api(path, body) {
    const headers = { authorization: `Bearer ${this.token ?? ''}`, 'content-type': 'application/json' };
    const answer = await fetch(this.address + path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/** A browser of its own: nothing of the user's is read or written. */
export async function openBrowser({ packages, chromium: executablePath, profile, tall }) {
  const { chromium } = createRequire(path.join(packages, 'package.json'))('playwright-core');
  return chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport: { width: 1000, height: tall },
    args: [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  });
}

/** The page with one chat at a time. */
export class ChatPage {
  constructor(page, address) {
    this.page = page;
    this.address = address;
    page.setDefaultTimeout(PAGE);
  }

  /** Signs in for the first time, and puts the greeting of administrators away. */
  async enter(email) {
    await this.page.goto(`${this.address}/auth`);
    await this.page.locator('input[type=email]').fill(email);
    await this.page.locator('input[type=password]').fill(PASSWORD);
    await this.page.locator('button[type=submit]').click();
    const greeting = this.page.getByRole('button', { name: "Okay, Let's Go!" });
    await greeting.or(this.input).first().waitFor();
    if (await greeting.count()) await greeting.click();
    await this.page.goto(`${this.address}/?models=helix`);
    await this.input.waitFor();
  }

  /** Begins a chat that nobody has said anything in, with one model or several. */
  async begin({ models = 'helix', temporary = false } = {}) {
    await this.page.goto(`${this.address}/?models=${encodeURIComponent(models)}${temporary ? '&temporary-chat=true' : ''}`);
    await this.page.locator('#model-selector-model-button, #model-selector-0-button', { hasText: 'Helix' }).first().waitFor();
    await this.input.waitFor();
  }

  get input() {
    return this.page.locator('#chat-input');
  }

  get stopButton() {
    return this.page.getByRole('button', { name: 'Stop', exact: true });
  }

  /** The last answer, finished or not. */
  get answer() {
    return this.page.locator('[id^="message-"]:has(.chat-assistant)').last();
  }

  /** The line above the answer. */
  get status() {
    return this.answer.getByRole('button', { name: 'Toggle status history' });
  }

  /** Whatever in the last answer looks as if it went on. */
  get shimmering() {
    return this.answer.locator('.shimmer');
  }

  async say(text) {
    const before = await this.page.locator('.user-message').count();
    await this.input.fill(text);
    await this.page.locator('#send-message-button').click();
    await this.page.locator('.user-message').nth(before).waitFor();
  }

  /** Waits until the last answer has this text in it, and no other answer is under way. */
  async answered(text, within = PAGE) {
    await this.reads(text, within);
    await this.idle();
  }

  /** Waits until the last answer has this text in it, finished or not. */
  async reads(text, within = PAGE) {
    await this.answer.locator('#response-content-container', { hasText: text }).waitFor({ timeout: within });
  }

  /** Waits until the page could send the next message: answers and background tasks are through. */
  async idle() {
    await this.stopButton.waitFor({ state: 'detached' });
  }

  /** All text of the last answer but the line above it. */
  async text() {
    return this.answer.locator('#response-content-container').innerText();
  }

  /** Asks for another answer. */
  async again() {
    await this.answer.getByRole('button', { name: 'Regenerate' }).click();
    await this.page.getByRole('menu').getByText('Try Again', { exact: true }).click();
  }

  /** Says something in place of a message: the last, or the one of this number. */
  async edit(text, number = -1) {
    const message = this.page.locator('.user-message').nth(number);
    await message.hover();
    await message.getByRole('button', { name: 'Edit' }).click();
    await this.page.locator('[id^="message-edit-"]').fill(text);
    await this.page.locator('#confirm-edit-message-button').click();
  }

  /** Deletes the user's message of this number. */
  async remove(number) {
    const messages = this.page.locator('.user-message');
    const gone = messages.nth((await messages.count()) - 1);
    await messages.nth(number).hover();
    await messages.nth(number).getByRole('button', { name: 'Delete' }).click();
    await this.page.getByRole('button', { name: 'Confirm' }).click();
    await gone.waitFor({ state: 'detached' });
  }

  /** Says something while an answer is under way: it waits, and is sent at once by its own button. */
  async sayNow(text) {
    await this.input.fill(text);
    await this.input.press('Enter');
    await this.page.getByLabel('Send now').first().click();
  }

  /** Makes a chat of its own of everything up to an answer, counted from the first. */
  async fork(number) {
    const before = await this.chat();
    const answer = this.page.locator('[id^="message-"]:has(.chat-assistant)').nth(number);
    await answer.hover();
    await answer.getByRole('button', { name: 'Fork chat' }).click();
    await this.page.waitForURL((url) => /\/c\/[0-9a-f-]+$/.test(url.pathname) && !url.pathname.endsWith(before));
  }

  /** The name under which Open WebUI keeps the chat. */
  async chat() {
    await this.page.waitForURL(/\/c\/[0-9a-f-]+$/);
    return this.page.url().split('/').pop();
  }
}
