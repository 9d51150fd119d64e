/** Quoting for a POSIX shell. */

const HARMLESS = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quoted(word: string): string {
  // A NUL cannot be part of any argument.
  const text = word.replaceAll("\0", "");
  return HARMLESS.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** An option and its value; a value that starts with a dash would be read as another option. */
export function option(name: string, value: string): string {
  return value.startsWith("-") || value === "" ? quoted(`${name}=${value}`) : `${name} ${quoted(value)}`;
}

/** A command, one part per line if it does not fit into one. */
export function command(parts: readonly string[], most = 76): string {
  const line = parts.join(" ");
  return line.length <= most && !line.includes("\n") ? line : parts.join(" \\\n  ");
}

/** Text as standard input; the delimiter does not occur as a line of the text. */
export function withInput(line: string, text: string): string {
  const lines = new Set(text.split("\n"));
  let end = "ORB";
  while (lines.has(end)) end += "_";
  return `${line} <<'${end}'\n${text.replace(/\n$/, "")}\n${end}`;
}
