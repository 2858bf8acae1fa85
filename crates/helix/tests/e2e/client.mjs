// A chat client with OpenAI's JavaScript package: reads orders as lines of JSON, prints a report for each.
//
// {"say": text} streams an answer, {"ask": text} gets it whole, {"edit": text} replaces what was said last and streams the
// answer to that, {"respond": text} streams an answer in the responses form, after the last response or the one of {"follow": id}.
// Must not know Helix: it does what any user of the package would do.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { createInterface } from "node:readline";

const resolve = createRequire(`${process.env.PACKAGES}/package.json`).resolve;
const { default: OpenAI } = await import(pathToFileURL(resolve("openai")).href);
const client = new OpenAI({ maxRetries: 2 });
const messages = [];
let previous;

function said(error) {
  return { status: error.status ?? null, code: error.code ?? null, message: error.message };
}

async function say() {
  const report = { text: "", reasoning: "", pieces: 0, usage: null, finish: null, error: null };
  try {
    const stream = await client.chat.completions.create({
      model: "helix",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      if (chunk.usage) report.usage = chunk.usage;
      for (const choice of chunk.choices ?? []) {
        report.text += choice.delta.content ?? "";
        report.reasoning += choice.delta.reasoning_content ?? "";
        report.pieces += choice.delta.content ? 1 : 0;
        report.finish = choice.finish_reason ?? report.finish;
      }
    }
  } catch (error) {
    report.error = said(error);
  }
  return report;
}

async function ask() {
  try {
    const answer = await client.chat.completions.create({ model: "helix", messages });
    const [choice] = answer.choices;
    return { text: choice.message.content, finish: choice.finish_reason, usage: answer.usage, error: null };
  } catch (error) {
    return { text: "", error: said(error) };
  }
}

async function respond(text) {
  const report = { text: "", id: null, previous: null, items: [], usage: null, error: null };
  try {
    const stream = await client.responses.create({
      model: "helix",
      input: text,
      previous_response_id: previous,
      stream: true,
    });
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") report.text += event.delta;
      if (event.type === "response.output_item.done") report.items.push(event.item.type);
      if (event.type === "response.completed") {
        previous = report.id = event.response.id;
        report.previous = event.response.previous_response_id;
        report.usage = event.response.usage;
      }
      if (event.type === "response.failed") report.error = event.response.error;
    }
  } catch (error) {
    report.error = said(error);
  }
  return report;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [[kind, text]] = Object.entries(JSON.parse(line));
  let report;
  if (kind === "respond") {
    report = await respond(text);
  } else if (kind === "follow") {
    previous = text;
    report = {};
  } else {
    if (kind === "edit") messages.splice(-2);
    messages.push({ role: "user", content: text });
    report = await { say, ask, edit: say }[kind]();
    if (report.text) messages.push({ role: "assistant", content: report.text });
  }
  console.log(JSON.stringify(report));
}
