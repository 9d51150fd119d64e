/** A dataset's description for people, in Markdown. What is not known is said to be not recorded. */
import { type AiPreferences, aiPreferences } from "../../domain/site/ai-preferences.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { escaped } from "../../exporters/markdown-text.ts";
import type { StepContext } from "../step-kind.ts";
import { type DatasetFacts, describe } from "./croissant.ts";
import type { ValueCounts } from "./survey.ts";

const NOT_RECORDED = "not recorded";
const MOST_SITES = 100;
const MOST_VALUES = 20;

export async function dataCard(
  { outputs, robotsOf }: Pick<StepContext, "outputs" | "robotsOf">,
  facts: DatasetFacts,
): Promise<string> {
  const { name, date, card, survey, files, format } = facts;
  const sites: string[] = [];
  for (const [origin, count] of survey.origins.top(MOST_SITES)) {
    const robots = await robotsOf(origin);
    const read = robots === null ? NOT_RECORDED : new Date(robots.fetchedAt).toISOString();
    sites.push(row([escaped(origin), count, read, robots === null ? NOT_RECORDED : preferences(robots.body)]));
  }
  const moreSites = survey.origins.size - sites.length;
  return [
    `# ${escaped(name)}`,
    "",
    escaped(card.description || describe(facts)),
    "",
    "## At a glance",
    "",
    table(
      ["", ""],
      [
        ["Records", survey.rows],
        ["Exported", date],
        ["Published", said(card.published)],
        ["Format", format],
        ["Licence of the dataset", said(card.license)],
        ["Creator", said(typeof card.creator === "string" ? card.creator : card.creator?.name)],
        ["Home page", said(card.url)],
        ["Version", said(card.version)],
        ["Citation", said(card.citation)],
      ],
    ),
    "",
    "## Sources",
    "",
    ...(sites.length === 0
      ? [`Sites: ${NOT_RECORDED}.`]
      : [
          row(["site", "records", "robots.txt read", "what it says about AI"]),
          row(["---", "---:", "---", "---"]),
          ...sites,
          ...(moreSites > 0 ? ["", `And ${survey.origins.uncounted > 0 ? "at least " : ""}${moreSites} more sites.`] : []),
          "",
          "robots.txt is the last one that was read before the export.",
        ]),
    ...(survey.origins.without > 0 ? ["", `Records without a source address: ${survey.origins.without}.`] : []),
    "",
    `Robots and AI preferences of single pages (\`X-Robots-Tag\`, \`<meta name="robots">\`): ${NOT_RECORDED}. Dates on which single pages were fetched: ${NOT_RECORDED}.`,
    "",
    "## Licences of the records",
    "",
    ...values(survey.licences, "licence", survey.rows),
    "",
    "## Languages",
    "",
    ...values(survey.languages, "language", survey.rows),
    "",
    "## How it was made",
    "",
    ...steps(outputs),
    "",
    "## Files",
    "",
    table(
      ["file", "bytes", "SHA-256"],
      files.map((file) => [escaped(file.name), file.size, file.hash]),
    ),
    "",
  ].join("\n");
}

function said(value: string | null | undefined): string {
  return value ? escaped(value) : NOT_RECORDED;
}

function preferences(robots: Uint8Array): string {
  if (robots.byteLength === 0) return "none could be read, or it is empty";
  const { lines, disallowed }: AiPreferences = aiPreferences(robots);
  const parts = [...lines.map(escaped), ...(disallowed.length > 0 ? [`disallows ${disallowed.join(", ")}`] : [])];
  return parts.length === 0 ? "nothing" : parts.join("; ");
}

function values(seen: ValueCounts, what: string, rows: number): string[] {
  if (seen.size === 0) return [`${what === "licence" ? "Licences" : "Languages"}: ${NOT_RECORDED}.`];
  const top = seen.top(MOST_VALUES);
  const shown = top.reduce((sum, [, count]) => sum + count, 0);
  const others = rows - seen.without - shown;
  return [
    table(
      [what, "records"],
      [
        ...top.map(([value, count]): Cells => [escaped(value), count]),
        ...(others > 0 ? [["others", others] as Cells] : []),
        ...(seen.without > 0 ? [[NOT_RECORDED, seen.without] as Cells] : []),
      ],
    ),
  ];
}

/** The earlier steps, with what they counted. */
function steps(outputs: Readonly<Record<string, JsonValue>>): string[] {
  const lines = Object.entries(outputs).map(([name, output]) => `- ${escaped(name)}${counts(output)}`);
  return lines.length === 0 ? [`Earlier steps: ${NOT_RECORDED}.`] : lines;
}

function counts(output: JsonValue): string {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return "";
  const words = Object.entries(output).flatMap(([key, value]) => {
    if (typeof value === "number") return [`${escaped(key)} ${value}`];
    if (key !== "reasons" || typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([reason, times]) =>
      typeof times === "number" ? [`${escaped(reason)} ${times}`] : [],
    );
  });
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

type Cells = readonly (string | number)[];

function row(cells: Cells): string {
  return `| ${cells.join(" | ")} |`;
}

function table(head: Cells, rows: readonly Cells[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}
