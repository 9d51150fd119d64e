/** Words for a POSIX shell: whatever they hold, the shell hands them on as they are. */

const HARMLESS = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quoted(word: string): string {
  // A NUL cannot be part of any argument.
  const text = word.replaceAll("\0", "");
  return HARMLESS.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** An option and its value; what begins with a dash would be taken for another option. */
export function option(name: string, value: string): string {
  return value.startsWith("-") || value === "" ? quoted(`${name}=${value}`) : `${name} ${quoted(value)}`;
}

/** A command whose parts stand below each other when they do not fit into a line. */
export function command(parts: readonly string[], most = 76): string {
  const line = parts.join(" ");
  return line.length <= most && !line.includes("\n") ? line : parts.join(" \\\n  ");
}

/** A text as standard input; the word that ends it is a line of the text nowhere. */
export function withInput(line: string, text: string): string {
  const lines = new Set(text.split("\n"));
  let end = "ORB";
  while (lines.has(end)) end += "_";
  return `${line} <<'${end}'\n${text.replace(/\n$/, "")}\n${end}`;
}
