// The types of the library (src/ → dist/types): for programs that import an installed package.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { node24, root, run } from "./bootstrap.mjs";
import { ensureBuilt } from "./built.mjs";

/** The compiler's threads duplicate work: with one it takes half the CPU time, and less wall time. */
export const FRUGAL = { words: ["--singleThreaded"], env: { GOGC: "400" } };

const DOORS = ["index", "lanes/handlers/user/define", "api-client/client"];
/** An import in a declaration file. */
const NAMED = /(from |import\(|import )"(\.[^"]*)\.ts"/g;

export function makeTypes({ folder = root, tell = () => {} } = {}) {
  return ensureBuilt({
    folder,
    name: "types",
    sources: ["src", "tsconfig.json", "scripts/types.mjs"],
    build: async (fresh) => {
      tell("making the types …\n");
      const all = join(fresh, "all");
      const options = { ...OPTIONS, outDir: all, rootDir: join(folder, "src") };
      const files = DOORS.map((door) => join(folder, "src", `${door}.ts`));
      const project = join(fresh, "tsconfig.json");
      const extending = join(folder, "tsconfig.json");
      const typeRoots = [join(folder, "node_modules", "@types")];
      writeFileSync(
        project,
        JSON.stringify({ extends: extending, compilerOptions: { ...options, typeRoots }, files, include: [] }),
      );
      const words = [join(folder, "node_modules/typescript/bin/tsc"), "--project", project, ...FRUGAL.words];
      const code = await run(node24(folder), words, { env: { ...process.env, ...FRUGAL.env } });
      if (code !== 0) throw new Error("the types could not be made");
      keepNeeded(all, fresh);
      for (const path of [all, project]) rmSync(path, { recursive: true });
    },
    place: (fresh, target) => {
      rmSync(target, { recursive: true, force: true });
      renameSync(fresh, target);
    },
  });
}

const OPTIONS = { noEmit: false, declaration: true, emitDeclarationOnly: true };

/** The compiler emits types of everything that is loaded; keeps only the reachable ones. */
function keepNeeded(from, to) {
  const seen = new Set();
  const keep = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(from, `${file}.d.ts`), "utf8");
    for (const [, , named] of text.matchAll(NAMED)) keep(resolve("/", dirname(file), named).slice(1));
    const path = join(to, `${file}.d.ts`);
    mkdirSync(dirname(path), { recursive: true });
    // TypeScript's own rewriting does not cover import types.
    writeFileSync(path, text.replaceAll(NAMED, '$1"$2.js"'));
  };
  DOORS.forEach(keep);
}
