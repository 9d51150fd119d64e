/** A mark that reveals processes with different artifact storages. */
import type { Context } from "../kernel/context.ts";

export function readFilesMark({ connection }: Pick<Context, "connection">): string | null {
  const row = connection.sql("SELECT value FROM meta WHERE name = 'files_mark'").get();
  return (row as { value: string } | undefined)?.value ?? null;
}

/** Of several that start at once the first decides. */
export function markFiles(context: Context, mark: string): string {
  const { connection } = context;
  return connection.write(
    () => {
      connection.sql("INSERT INTO meta (name, value) VALUES ('files_mark', ?) ON CONFLICT (name) DO NOTHING").run(mark);
      return readFilesMark(context) ?? mark;
    },
    { durable: true },
  );
}
