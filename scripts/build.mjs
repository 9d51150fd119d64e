// npm run build: builds what the package contains besides the clone's files: the program (dist/code), the dashboard
// (dist/web) and the library's types (dist/types). `orb`, `npm start` and `npm test` rebuild the first two when they
// are stale; types are built after npm ci, and here.
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
