// npm run build: everything that a package holds besides what is in the clone: the program (dist/code), the dashboard
// (dist/web) and the types of the library (dist/types). `orb`, `npm start` and `npm test` build the first two by
// themselves when they are stale; types are made after npm ci, and here.
import { ensureInstalled, script } from "./bootstrap.mjs";
import { ensureCode } from "./code.mjs";
import { makeTypes } from "./types.mjs";
import { ensureWeb } from "./web.mjs";

await script(async () => {
  const tell = (text) => process.stderr.write(text);
  await ensureInstalled();
  await ensureWeb({ tell });
  await ensureCode({ tell, keepMs: 0 });
  await makeTypes({ tell });
  return 0;
});
