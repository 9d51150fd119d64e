/** Reads the marked examples of a page: what runs, what it prints, which files it needs. */
export type Example =
  | { kind: "file"; line: number; name: string; text: string }
  | { kind: "run"; line: number; script: string; exit: number; output: string | null };

const FENCE = /^```(\S*)(?: (.*))?\n([\s\S]*?)^```$/gm;

/**
 * A fence marked `sh run` is executed, `sh run exit=3` must end with that code; a fence marked `text output` behind it is what
 * it prints; one marked `file=NAME` is written to that file first.
 */
export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  for (const match of markdown.matchAll(FENCE)) {
    const [, , words = "", text = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length;
    const file = /file=(\S+)/.exec(words)?.[1];
    if (file !== undefined) examples.push({ kind: "file", line, name: file, text });
    else if (/^run\b/.test(words))
      examples.push({
        kind: "run",
        line,
        script: text,
        exit: Number(/exit=(\d+)/.exec(words)?.[1] ?? 0),
        output: null,
      });
    else if (words === "output") {
      const last = examples.at(-1);
      if (last?.kind !== "run") throw new Error(`line ${line}: an output without a command before it`);
      last.output = text;
    }
  }
  return examples;
}

/** Relative links of a page, without their anchors. */
export function linksOf(markdown: string): { path: string; anchor: string | null }[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor = null] = target.split("#");
      return { path, anchor };
    });
}

/** The anchors that GitHub gives to a page's headings. */
export function anchorsOf(markdown: string): string[] {
  return [...markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? "")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
