/** Who did something, in one line: its name, and what it is unless the name says so. */
export function actorText({ kind, name }: { kind: string; name: string }): string {
  return name === kind ? name : `${name} (${kind})`;
}
