// node scripts/test/load-files.mjs FILE …: several test files in one process, one after the other.
import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
