/** Makes foreign text safe for a terminal: control characters are shown as escapes, such as `\u001b`. */

/** Controls except tab and line feed, and bidirectional overrides. In JSON the escapes mean the same. */
const COMMANDS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;
/** The same except ESC, with which our own colours start. */
// oxlint-disable-next-line no-control-regex
const BUT_ESCAPE = /[\u0000-\u0007\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function visible(text: string): string {
  return text.replace(COMMANDS, escaped);
}

/** For a screen that our own commands draw on: strips one-byte control sequences (U+009B is ESC [). */
export function withoutForeignCommands(text: string): string {
  return text.replace(BUT_ESCAPE, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The same for a byte stream. */
export async function* visibleBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of chunks) {
    const text = held + decoder.decode(chunk, { stream: true });
    // Whether a line feed follows is known with the next chunk.
    held = text.endsWith("\r") ? "\r" : "";
    yield Buffer.from(visible(held === "" ? text : text.slice(0, -1)));
  }
  yield Buffer.from(visible(held + decoder.decode()));
}
