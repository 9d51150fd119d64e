import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { MOST_TEXT, readViewerMessage } from "../../src/domain/live-view/messages.ts";
import {
  ActionRecorder,
  MOST_ACTIONS,
  type PageEvent,
  readPageEvent,
} from "../../src/domain/live-view/recorded-actions.ts";

const read = (message: object) => readViewerMessage(JSON.stringify(message));

describe("what a viewer of a live page sends", () => {
  test("is read with its limits: numbers are brought into range, and what is missing or foreign is refused", () => {
    assert.deepEqual(read({ type: "mouse", event: "down", x: -5, y: 1e9, button: "left", clicks: 9, more: 1 }), {
      type: "mouse",
      event: "down",
      x: 0,
      y: 100_000,
      button: "left",
      buttons: 0,
      clicks: 3,
      modifiers: 0,
    });
    assert.deepEqual(read({ type: "ack", seq: 3 }), { type: "ack", seq: 3 });
    assert.deepEqual(read({ type: "control", take: "yes" }), { type: "control", take: false });
    for (const wrong of [
      { type: "mouse", event: "down", y: 1, button: "left" },
      { type: "mouse", event: "fly", x: 1, y: 1, button: "left" },
      { type: "text", text: "x".repeat(MOST_TEXT + 1) },
      { type: "key", event: "down", key: "x".repeat(41), code: "KeyX" },
      { type: "touch", event: "start", points: Array.from({ length: 11 }, () => ({ x: 1, y: 1, id: 0 })) },
      { type: "navigate", url: 7 },
      { type: "constructor" },
      {},
    ])
      assert.equal(read(wrong), null, JSON.stringify(wrong).slice(0, 80));
  });

  test("never throws, whatever it is", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readViewerMessage(text)));
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readPageEvent(text)));
  });
});

function recorded(...events: PageEvent[]) {
  const recorder = new ActionRecorder();
  for (const event of events) recorder.add(event);
  return recorder.recorded;
}

describe("what a person does on a live page", () => {
  test("becomes actions: a field is clicked before it is written to, and its old text is replaced", () => {
    const { actions, notes } = recorded(
      { type: "page" },
      { type: "click", selector: "#name" },
      { type: "write", selector: "#name", before: "", text: "Ada" },
      { type: "write", selector: "#town", before: "Lo", text: "London" },
      { type: "write", selector: "#street", before: "old", text: "new" },
      { type: "write", selector: "#door", before: "7", text: "" },
      { type: "write", selector: "#same", before: "x", text: "x" },
      { type: "press", key: "Enter" },
    );
    assert.deepEqual(actions, [
      { type: "click", selector: "#name" },
      { type: "write", text: "Ada" },
      { type: "click", selector: "#town" },
      { type: "write", text: "ndon" },
      { type: "click", selector: "#street" },
      { type: "press", key: "Control+A" },
      { type: "write", text: "new" },
      { type: "click", selector: "#door" },
      { type: "press", key: "Control+A" },
      { type: "press", key: "Backspace" },
      { type: "press", key: "Enter" },
    ]);
    assert.deepEqual(notes, []);
  });

  test("is never the text of a secret field: a note says where it belongs", () => {
    const { actions, notes } = recorded({ type: "secret", selector: "#password" }, { type: "press", key: "Enter" });
    assert.deepEqual(actions, [
      { type: "click", selector: "#password" },
      { type: "press", key: "Enter" },
    ]);
    assert.equal(notes.length, 1);
    assert.match(notes[0] ?? "", /^after action 1, add the secret text of #password/);
    const lying = JSON.stringify({ type: "secret", selector: "#password", text: "hunter2" });
    assert.deepEqual(readPageEvent(lying), { type: "secret", selector: "#password" });
  });

  test("scrolls as far as the page moved in the end, and anew on another page", () => {
    assert.deepEqual(
      recorded(
        { type: "scroll", y: 300 },
        { type: "scroll", y: 310 },
        { type: "scroll", y: 700 },
        { type: "click", selector: "#more" },
        { type: "scroll", y: 500 },
        { type: "page" },
        { type: "scroll", y: 100 },
      ).actions,
      [
        { type: "scroll", direction: "down", amount: 700 },
        { type: "click", selector: "#more" },
        { type: "scroll", direction: "up", amount: 100 },
      ],
    );
  });

  test("is at most as much as a job takes", () => {
    const clicks = Array.from({ length: MOST_ACTIONS + 5 }, (_, n): PageEvent => ({
      type: "click",
      selector: `#b${n}`,
    }));
    const { actions, notes } = recorded(...clicks);
    assert.equal(actions.length, MOST_ACTIONS);
    assert.deepEqual(notes, [`only the first ${MOST_ACTIONS} actions are recorded`]);
  });
});
