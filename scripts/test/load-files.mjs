// node scripts/test/load-files.mjs FILE …: runs several test files in one process, sequentially.
import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
