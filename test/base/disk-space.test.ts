import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { DiskSpace, sizeWords } from "../../src/base/files/disk-space.ts";

test("a disk on which several things lie is named once", () => {
  const paths = [
    { what: "the database", path: import.meta.dirname },
    { what: "the artifacts", path: import.meta.dirname },
    { what: "nothing yet", path: "/nowhere/at/all" },
  ];
  const disk = new DiskSpace({ clock: systemClock, minBytes: 0, paths, freeAt: (path) => path.length });
  assert.deepEqual(disk.disks, [
    { what: "the database and the artifacts", freeBytes: import.meta.dirname.length },
    { what: "nothing yet", freeBytes: 15 },
  ]);
  assert.deepEqual([999, 1500, 210_000_000, 82_994_790_400].map(sizeWords), ["999 bytes", "1.5 KB", "210 MB", "83 GB"]);
});
