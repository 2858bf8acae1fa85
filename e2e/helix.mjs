// Helix's own API and the scripted model behind its agent, as witnesses. Must not know the page.

/** How often a witness is asked, in milliseconds. */
const PACE = 50;

/** Asks until the answer is something; says what was waited for if that never happens. */
export async function until(what, within, probe) {
  const deadline = performance.now() + within;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${within} ms`);
    await new Promise((resolve) => setTimeout(resolve, PACE));
  }
}

export class Helix {
  constructor({ url, token, model }) {
    this.url = url;
    this.token = token;
    this.model = model;
  }

  async get(path) {
    const response = await fetch(this.url + path, { headers: { authorization: `Bearer ${this.token}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async sessions() {
    return (await this.get('/api/v1/sessions')).sessions;
  }

  /** The one conversation of a chat, with its turns and branches. */
  async session(chat) {
    const found = (await this.sessions()).filter((one) => one.key.includes(chat));
    if (found.length !== 1) throw new Error(`chat ${chat} has ${found.length} conversations`);
    return this.get(`/api/v1/sessions/${found[0].id}`);
  }

  /** Waits until no turn of the chat is under way; then the conversation. */
  async settled(chat, within = 60_000) {
    return until('the end of the turn', within, async () => {
      const session = await this.session(chat);
      return session.turns.every((turn) => turn.end) && session;
    });
  }

  /** What the agent asked the model for, oldest first, as text; `scene` is the beginning of what answered. */
  async asked(scene) {
    const response = await fetch(`${this.model}/_scripted/requests`);
    const requests = await response.json();
    return requests.filter((one) => one.answered_by?.startsWith(scene)).map((one) => JSON.stringify(one.body.messages));
  }
}
