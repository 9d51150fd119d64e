import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readViewerMessage } from "../../src/domain/live-view/messages.ts";
import {
  clickMessages,
  dragDelta,
  keyMessage,
  modifiersOf,
  mouseMessage,
  pointOnPage,
  pressMessages,
  useOfKey,
  wheelDelta,
} from "../../web/src/pages/live-view/logic/live-input.ts";
import { answersOf, readFrame, timeLeft } from "../../web/src/pages/live-view/logic/live-messages.ts";

const PAGE = { width: 1280, height: 720 };
const NONE = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };
const key = (name: string, more: object = {}) => ({
  ...NONE,
  key: name,
  code: name,
  keyCode: 65,
  location: 0,
  repeat: false,
  isComposing: false,
  ...more,
});

describe("input of a live view", () => {
  test("a position on the scaled picture is one on the page, also on a phone, and beside it at its edge", () => {
    const desktop = { left: 100, top: 50, width: 1280, height: 720 };
    assert.deepEqual(pointOnPage(desktop, PAGE, { clientX: 740, clientY: 410 }), { x: 640, y: 360 });
    const phone = { left: 16, top: 200, width: 358, height: 201.375 };
    assert.deepEqual(pointOnPage(phone, PAGE, { clientX: 16 + 179, clientY: 200 + 100.6875 }), { x: 640, y: 360 });
    assert.deepEqual(pointOnPage(phone, PAGE, { clientX: -5, clientY: 9999 }), { x: 0, y: 719 });
    assert.deepEqual(pointOnPage({ ...phone, width: 0, height: 0 }, PAGE, { clientX: 1, clientY: 1 }), { x: 0, y: 0 });
    assert.deepEqual(dragDelta(phone, PAGE, { x: 0, y: -35.8 }), { dx: 0, dy: 128 });
    assert.deepEqual(wheelDelta({ deltaX: 0, deltaY: 3, deltaMode: 1 }), { dx: 0, dy: 120 });
  });

  test("what it sends is what the server reads", () => {
    const at = { x: 10, y: 20 };
    const mouse = { ...NONE, shiftKey: true, button: 2, buttons: 2, detail: 2 };
    for (const message of [
      mouseMessage("down", at, mouse, false),
      mouseMessage("move", at, { ...mouse, buttons: 0 }, false),
      ...clickMessages(at),
      keyMessage("down", key("Enter"), false),
      ...pressMessages("Backspace"),
      { type: "wheel", ...at, ...wheelDelta({ deltaX: 1, deltaY: 2, deltaMode: 0 }), modifiers: 0 },
      { type: "touch", event: "start", points: [{ ...at, id: 0 }] },
    ])
      assert.deepEqual(readViewerMessage(JSON.stringify(message)), message);
    assert.deepEqual(
      [mouseMessage("down", at, mouse, false)].map(({ button, clicks, modifiers }) => [button, clicks, modifiers]),
      [["right", 2, 8]],
    );
  });

  test("keys are sent, pasting and input methods give text, and Shift+Esc leaves the page", () => {
    assert.equal(useOfKey(key("a"), false), "send");
    assert.equal(useOfKey(key("Tab"), false), "send");
    assert.equal(useOfKey(key("Escape"), false), "send");
    assert.equal(useOfKey(key("Escape", { shiftKey: true }), false), "leave");
    assert.equal(useOfKey(key("v", { ctrlKey: true }), false), "text");
    assert.equal(useOfKey(key("v", { metaKey: true }), true), "text");
    assert.equal(useOfKey(key("v", { ctrlKey: true }), true), "send");
    assert.equal(useOfKey(key("Unidentified", { keyCode: 229 }), false), "text");
    assert.equal(useOfKey(key("ä", { isComposing: true }), false), "text");
  });

  test("Command on a Mac is Ctrl on the page, and characters of AltGr are text", () => {
    assert.equal(modifiersOf({ ...NONE, metaKey: true }, true), 2);
    assert.equal(modifiersOf({ ...NONE, metaKey: true }, false), 4);
    assert.equal(keyMessage("down", key("@", { altKey: true, ctrlKey: true }), false).modifiers, 0);
    assert.equal(keyMessage("down", key("a", { ctrlKey: true }), false).modifiers, 2);
    assert.equal(keyMessage("down", key("Meta"), true).key, "Control");
  });
});

describe("what a live view receives", () => {
  test("a frame begins with its number and the size of the page", () => {
    const data = new ArrayBuffer(11);
    const view = new DataView(data);
    view.setUint32(0, 7);
    view.setUint16(4, 412);
    view.setUint16(6, 915);
    const frame = readFrame(data);
    assert.deepEqual([frame?.seq, frame?.width, frame?.height, frame?.jpeg.length], [7, 412, 915, 3]);
    assert.equal(readFrame(new ArrayBuffer(8)), null);
  });

  test("a dialog has the answers of its kind, and time is shown as it is read", () => {
    const dialog = { id: 1, message: "", value: "" };
    assert.deepEqual(answersOf({ ...dialog, kind: "alert" }), { accept: "OK", dismiss: null });
    assert.deepEqual(answersOf({ ...dialog, kind: "beforeunload" }), { accept: "Leave page", dismiss: "Stay" });
    const now = Date.parse("2026-01-01T00:00:00Z");
    assert.equal(timeLeft("2026-01-01T00:05:00Z", now), "5 min");
    assert.equal(timeLeft("2026-01-01T00:00:42Z", now), "42 s");
    assert.equal(timeLeft("2025-12-31T00:00:00Z", now), "0 s");
  });
});
