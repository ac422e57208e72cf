// Reads graphs as a JSON list of texts, and writes a JSON list of why each does not parse: null where it does.
import { JSDOM } from "jsdom";

// Mermaid cleans labels with the DOM of a browser.
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

let input = "";
for await (const chunk of process.stdin) {
  input += chunk;
}
const problems = [];
for (const graph of JSON.parse(input)) {
  try {
    await mermaid.parse(graph);
    problems.push(null);
  } catch (error) {
    problems.push(String(error.message ?? error));
  }
}
console.log(JSON.stringify(problems));
