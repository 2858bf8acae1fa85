// Open WebUI's chat page as a user handles it. Must not know Helix, nor what any message is about.

import { createRequire } from 'node:module';
import path from 'node:path';

/** How long the page may take for something that needs no agent, in milliseconds. The machine may be busy. */
const PAGE = 60_000;

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

  /** Loads the page for the first time and puts its greeting away. */
  async enter() {
    await this.page.goto(`${this.address}/?models=helix`);
    await this.page.getByRole('button', { name: "Okay, Let's Go!" }).click();
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

  /** Says something while an answer is under way: it waits, and is sent at once by its own button. */
  async sayNow(text) {
    await this.input.fill(text);
    await this.input.press('Enter');
    await this.page.getByLabel('Send now').first().click();
  }

  /** Makes a chat of its own that has been the same so far. */
  async clone() {
    const before = await this.chat();
    await this.page.locator('#chat-context-menu-button').first().click();
    await this.page.getByText('Clone', { exact: true }).first().click();
    await this.page.waitForURL((url) => /\/c\/[0-9a-f-]+$/.test(url.pathname) && !url.pathname.endsWith(before));
    return before;
  }

  /** The name under which Open WebUI keeps the chat. */
  async chat() {
    await this.page.waitForURL(/\/c\/[0-9a-f-]+$/);
    return this.page.url().split('/').pop();
  }
}
