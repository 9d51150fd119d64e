/** `orb migrate --to`: from SQLite to Postgres. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { OrbError } from "../base/errors.ts";
import type { Config } from "../config/options.ts";
import type { CliContext } from "./context.ts";
import { Drawing } from "./print/drawing.ts";
import { plural, printJson, table } from "./print/output.ts";
import { EXIT_OF_SIGNAL, onStopSignals } from "./stop.ts";
import type { CliCopy, CliCopyProgress } from "./wiring.ts";

export async function copyDatabase(context: CliContext, config: Config, to: string): Promise<void> {
  refuseOtherKinds(config, to);
  const { terminal, json } = context;
  const drawing = new Drawing(terminal, terminal.live && !json);
  const lines = new ProgressLines((line) => (drawing.live || json ? undefined : terminal.err(line)));
  const release = onStopSignals(context.wiring, (signal) => {
    drawing.done();
    terminal.err("stopped: this copy cannot be used; run the same command again to start over\n");
    context.wiring.exit(EXIT_OF_SIGNAL[signal]);
  });
  try {
    const copy = await context.wiring.copyTo(config, to, (progress) => {
      drawing.show(sentence(progress));
      lines.print(progress);
    });
    drawing.clear();
    const next = nextSteps(config);
    if (json) return printJson(terminal, { ...copy, next });
    return printSummary(context, copy, next);
  } finally {
    release();
    drawing.done();
  }
}

const EXPECTED = "expected postgres://USER:PASSWORD@HOST/DATABASE";

function refuseOtherKinds({ database }: Config, to: string): void {
  const refuse = (path: string, message: string, hint: string): never => {
    throw new OrbError("input_invalid", `${path}: ${message}`, { hint, fields: [{ path, message }] });
  };
  if (!/^postgres(?:ql)?:\/\//.test(to) || !URL.canParse(to))
    refuse(
      "--to",
      EXPECTED,
      "The copy is from SQLite to Postgres. In the password, write characters other than letters, digits and . _ ~ - as %XX, such as %2F for /.",
    );
  if (new URL(to).pathname.length < 2)
    refuse("--to", `${EXPECTED}: the database name is missing`, "Add the name of an existing database.");
  if (database.kind !== "sqlite")
    refuse(
      "APP_DATABASE_URL",
      "expected sqlite:PATH, the database to copy",
      "The copy is from SQLite to Postgres; change APP_DATABASE_URL only after the copy.",
    );
}

function sentence({ table: name, rows, of, copied, total }: CliCopyProgress): string {
  const percent = total === 0 ? 100 : Math.floor((100 * copied) / total);
  return `copying ${name} ${rows} of ${of} (${percent} % of ${plural(total, "row")})`;
}

/** Without a screen, prints a line for every 10 %. */
class ProgressLines {
  readonly #write: (line: string) => void;
  #tenths = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  print(progress: CliCopyProgress): void {
    const tenths = Math.floor((10 * progress.copied) / Math.max(1, progress.total));
    if (tenths === this.#tenths) return;
    this.#tenths = tenths;
    this.#write(`${sentence(progress)}\n`);
  }
}

/** The database is only part of an installation: lists what else to move. */
function nextSteps({ artifacts, secretKey, dataDir }: Config): string[] {
  return [
    "Set APP_DATABASE_URL to this URL, and APP_REDIS_URL, on all machines.",
    artifacts.kind === "s3"
      ? "Files stay in the bucket: keep the same APP_ARTIFACTS_URL on all machines."
      : `Files were not copied. Move ${artifacts.path} to a shared folder with the same path on all machines, or copy its folders sha256/ and cold/ to a bucket under the same names, and set APP_ARTIFACTS_URL on all machines.`,
    keyWords(secretKey !== null, join(dataDir, "secret.key")),
    "Check with `orb audit --deep`, and keep the SQLite database until you are sure; it was not changed.",
  ];
}

function keyWords(isSet: boolean, file: string): string {
  if (isSet) return "Stored sessions and credentials need the same APP_SECRET_KEY on all machines.";
  if (existsSync(file))
    return `Stored sessions and credentials are encrypted with the key in ${file}: set APP_SECRET_KEY to it on all machines.`;
  return "Set APP_SECRET_KEY to the same value on all machines, such as the output of: openssl rand -hex 32";
}

function printSummary({ terminal }: CliContext, copy: CliCopy, next: readonly string[]): void {
  const filled = copy.tables.filter(({ rows }) => rows > 0);
  terminal.out(
    table(
      ["table", "rows"],
      filled.map(({ table: name, rows }) => [name, rows]),
    ),
  );
  terminal.out(
    `copied ${plural(copy.rows, "row")} into the schema ${copy.schema}: row counts match, the audit ${copy.findings.length === 0 ? "is clean" : "has the same findings as before"}\n`,
  );
  for (const { check, what } of copy.findings) terminal.out(`  ${check}: ${what}\n`);
  if (copy.cleanedTexts > 0)
    terminal.out(
      `${plural(copy.cleanedTexts, "text")} contained characters that Postgres cannot store (NUL, unpaired surrogates); they were replaced by U+FFFD\n`,
    );
  terminal.out(`Next steps:\n${next.map((line) => `- ${line}\n`).join("")}`);
}
