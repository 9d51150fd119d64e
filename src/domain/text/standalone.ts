/** V8 substrings keep their parent string, such as a whole page, in memory: what stays longer is copied. */
export function standalone(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
