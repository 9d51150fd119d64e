/** Notes on results that succeeded but lack requested fields or items. */
import { DOCUMENT_RULE } from "../../domain/page/document-warning.ts";
import { SIGN_IN_RULE } from "../../domain/page/sign-in.ts";
import type { ExportRecord } from "../../exporters/exporter.ts";
import type { JobInput } from "../../orchestrator/jobs/input.ts";
import type { RunView } from "../../orchestrator/runs/view.ts";

interface Warning {
  field: string;
  rule: string;
  message: string;
}

export class ScrapeNotes {
  readonly #asksForItems: boolean;
  /** Requested fields that no record has so far. */
  readonly #missing: Set<string>;
  #count = 0;

  constructor({ fields, items }: Pick<JobInput, "fields" | "items">) {
    this.#asksForItems = items !== undefined && items !== null;
    const named = Array.isArray(fields) ? fields.map(String) : Object.keys(fields ?? {});
    this.#missing = new Set(named);
  }

  /** Passes records through and notes their fields. */
  async *watched(records: AsyncIterable<ExportRecord>): AsyncGenerator<ExportRecord> {
    for await (const record of records) {
      this.#count += 1;
      for (const name of this.#missing) if (hasValue(record.data[name])) this.#missing.delete(name);
      yield record;
    }
  }

  /** Call after all records were read. */
  about({ stats }: RunView): string[] {
    const warnings = (Array.isArray(stats["warnings"]) ? stats["warnings"] : []) as Warning[];
    const signIn = warnings.find(({ rule }) => rule === SIGN_IN_RULE);
    const notes = signIn === undefined ? [] : [`${signIn.message}; see orb sessions and --session`];
    notes.push(...warnings.filter(({ rule }) => rule === DOCUMENT_RULE).map(({ message }) => message));
    if (this.#count === 0) return this.#asksForItems ? [...notes, "the items matched nothing: no records"] : notes;
    for (const name of this.#missing) {
      const why = warnings.find(({ field }) => field === name);
      const what = why === undefined ? "matched nothing" : `could not be read (${why.rule}: ${why.message})`;
      notes.push(`the field ${name} ${what}${this.#count === 1 ? "" : ` in any of ${this.#count} records`}`);
    }
    return notes;
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}
