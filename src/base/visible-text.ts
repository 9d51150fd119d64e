/** What sites say cannot command a terminal: control characters are shown as what they are, such as `\u001b`. */

/** Controls but tab and line feed, and what turns the direction of writing around. In JSON the escapes mean the same. */
const COMMANDS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;
/** The same but ESC, with which our own colours begin. */
// oxlint-disable-next-line no-control-regex
const BUT_ESCAPE = /[\u0000-\u0007\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function visible(text: string): string {
  return text.replace(COMMANDS, escaped);
}

/** For a screen that our own commands draw on: what is left of others is one-byte commands (U+009B is ESC [). */
export function withoutForeignCommands(text: string): string {
  return text.replace(BUT_ESCAPE, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The same for bytes that come piece by piece. */
export async function* visibleBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of chunks) {
    const text = held + decoder.decode(chunk, { stream: true });
    // Whether a line feed follows is seen in the next piece.
    held = text.endsWith("\r") ? "\r" : "";
    yield Buffer.from(visible(held === "" ? text : text.slice(0, -1)));
  }
  yield Buffer.from(visible(held + decoder.decode()));
}
