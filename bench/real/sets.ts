/** Documentation from Debian packages: HTML by many generators, written for readers and not for crawlers. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { print } from "../support/measure.ts";
import { unpackedPackage } from "../support/debian.ts";

interface DocumentationSet {
  name: string;
  madeWith: string;
  /** The first available one; the others are for other Debian releases. */
  packages: readonly string[];
  /** The served folder in the package. `*` matches one folder with a version in its name. */
  folder: string;
  /** Start page of a crawl. */
  start?: string;
}

const SETS: readonly DocumentationSet[] = [
  {
    name: "ncurses",
    madeWith: "man2html",
    packages: ["ncurses-doc"],
    folder: "usr/share/doc/ncurses-doc/html",
  },
  {
    name: "gtk",
    madeWith: "gtk-doc (DocBook)",
    packages: ["libgtk-3-doc"],
    folder: "usr/share/gtk-doc/html",
    start: "gtk3/",
  },
  {
    name: "python",
    madeWith: "Sphinx",
    packages: ["python3.11-doc", "python3.13-doc", "python3.12-doc"],
    folder: "usr/share/doc/python3*/html",
  },
  {
    name: "lang3",
    madeWith: "Javadoc",
    packages: ["libcommons-lang3-java-doc"],
    folder: "usr/share/doc/libcommons-lang3-java/api",
  },
  {
    name: "postgres",
    madeWith: "DocBook",
    packages: ["postgresql-doc-15", "postgresql-doc-17", "postgresql-doc-16"],
    folder: "usr/share/doc/postgresql-doc-*/html",
  },
  {
    name: "eigen",
    madeWith: "Doxygen",
    packages: ["libeigen3-doc"],
    folder: "usr/share/doc/libeigen3-dev/html",
  },
  {
    name: "ant",
    madeWith: "frames, by hand",
    packages: ["ant-doc"],
    folder: "usr/share/doc/ant",
    start: "manual/",
  },
  {
    name: "octave",
    madeWith: "Texinfo",
    packages: ["octave-doc"],
    folder: "usr/share/doc/octave/octave.html",
  },
  {
    name: "rust",
    madeWith: "rustdoc, mdBook",
    packages: ["rust-doc"],
    folder: "usr/share/doc/rust-doc/html",
  },
];

export interface FoundSet {
  name: string;
  madeWith: string;
  /** The package that was found. */
  package: string;
  root: string;
  start: string;
}

/** `usr/share/doc/python3*` below a root; null: no such folder. */
function findFolder(root: string, pattern: string): string | null {
  let folder = root;
  for (const part of pattern.split("/")) {
    const [begin = "", end] = part.split("*");
    const name =
      end === undefined ? part : readdirSync(folder).find((one) => one.startsWith(begin) && one.endsWith(end));
    folder = join(folder, name ?? part);
    if (!existsSync(folder)) return null;
  }
  return folder;
}

function find({ name, madeWith, packages, folder, start = "" }: DocumentationSet): FoundSet | null {
  for (const one of packages) {
    const unpacked = unpackedPackage(one);
    const root = unpacked === null ? null : findFolder(unpacked, folder);
    if (root !== null) return { name, madeWith, package: one, root, start };
  }
  return null;
}

const htmlFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.html?$/.test(name)).length;

/** The requested sets, or all; without those above `limit` HTML files. */
export function findSets(names: readonly string[] | undefined, limit: number): FoundSet[] {
  const known = SETS.map(({ name }) => name);
  const unknown = (names ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`there is no set ${unknown.join(", ")}: the sets are ${known.join(", ")}`);
  return SETS.filter(({ name }) => names?.includes(name) ?? true).flatMap((set) => {
    const found = find(set);
    if (found === null) {
      print(`!! SKIPPED: ${set.name}: none of ${set.packages.join(", ")} could be fetched with apt-get download`);
      return [];
    }
    if (htmlFiles(found.root) <= limit) return [found];
    print(`${set.name} has more than ${limit} files and is left out (--limit)`);
    return [];
  });
}
