import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../support/properties.ts";
import { isAllowedAddress, parseAddressPolicy, PUBLIC_ONLY } from "../../src/net/address.ts";

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "93.184.216.34",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.31.196.1",
  "192.52.193.1",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
  "2001:200::1",
  "2620:4f:8000::1",
  "3ffe::1",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::8.8.8.8",
  "64:ff9b::808:808",
];

const CLOSED = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.255",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "192.168.255.255",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "168.63.129.16",
  "::",
  "::1",
  "::127.0.0.1",
  "::7f00:1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::ffff:0:127.0.0.1",
  "64:ff9b::127.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::1",
  "64:ff9b:1::8.8.8.8",
  "100::1",
  "2001::1",
  "2001:0:53aa:64c::1",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "2002:808:808::1",
  "3fff::1",
  "3fff:fff::1",
  "5f00::1",
  "fc00::1",
  "fd00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "fec0::1",
  "ff02::1",
  "1fff::1",
  "4000::1",
  "2606:4700:4700::1111%1",
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "01.2.3.4",
  "0x7f.0.0.1",
  "2130706433",
  "1.2.3.4/8",
  ":::",
  "g::1",
  "[::1]",
];

describe("which addresses may be reached", () => {
  it("reaches the public internet and nothing else", () => {
    for (const ip of PUBLIC) assert.equal(isAllowedAddress(ip, PUBLIC_ONLY), true, ip);
    for (const ip of CLOSED) assert.equal(isAllowedAddress(ip, PUBLIC_ONLY), false, ip);
  });

  it("opens private networks with true, but never link-local and metadata addresses", () => {
    const policy = parseAddressPolicy(true);
    for (const ip of [
      "10.1.2.3",
      "127.0.0.1",
      "172.20.0.1",
      "192.168.1.1",
      "100.64.0.1",
      "::1",
      "fd12::1",
      "::ffff:10.0.0.1",
      "8.8.8.8",
    ]) {
      assert.equal(isAllowedAddress(ip, policy), true, ip);
    }
    for (const ip of [
      "169.254.169.254",
      "169.254.0.1",
      "100.100.100.200",
      "168.63.129.16",
      "fe80::1",
      "fd00:ec2::254",
      "fd20:ce::254",
      "::ffff:169.254.169.254",
      "64:ff9b::169.254.169.254",
      "0.0.0.0",
      "224.0.0.1",
      "::127.0.0.1",
      "ff02::1",
    ]) {
      assert.equal(isAllowedAddress(ip, policy), false, ip);
    }
  });

  it("opens exactly the networks that are listed, in every way of writing them", () => {
    const policy = parseAddressPolicy(["10.1.0.0/16", "169.254.169.254", "fd00:1::/32", " ::ffff:192.168.7.0/120 "]);
    for (const ip of ["10.1.255.1", "::ffff:10.1.2.3", "169.254.169.254", "fd00:1:2::3", "192.168.7.9", "8.8.8.8"]) {
      assert.equal(isAllowedAddress(ip, policy), true, ip);
    }
    for (const ip of ["10.2.0.1", "127.0.0.1", "169.254.169.253", "fd00:2::1", "192.168.8.1", "::1"]) {
      assert.equal(isAllowedAddress(ip, policy), false, ip);
    }
    assert.equal(isAllowedAddress("127.0.0.1", parseAddressPolicy(["0.0.0.0/0"])), true);
    assert.equal(isAllowedAddress("::1", parseAddressPolicy(["0.0.0.0/0"])), false);
  });

  it("names the network that it cannot read", () => {
    for (const bad of [
      "10.0.0.0/33",
      "10.0.0/8",
      "fd00::/129",
      "local",
      "",
      "10.0.0.0/",
      "10.0.0.0/-1",
      "10.0.0.0/8/8",
      "fe80::1%eth0/64",
    ]) {
      assert.throws(
        () => parseAddressPolicy(["10.0.0.0/8", bad]),
        (error: Error) => error.message.includes(`"${bad}"`),
        bad,
      );
    }
  });

  it("judges an IPv4 address alike in all its IPv6 disguises", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, byte, fc.boolean(), (a, b, c, d, open) => {
        const policy = parseAddressPolicy(open);
        const v4 = `${a}.${b}.${c}.${d}`;
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const plain = isAllowedAddress(v4, policy);
        for (const form of [`::ffff:${v4}`, `::ffff:${hex}`, `64:ff9b::${v4}`, `0:0:0:0:0:FFFF:${hex.toUpperCase()}`]) {
          assert.equal(isAllowedAddress(form, policy), plain, form);
        }
        // What a router would unpack is never reached, whatever is inside.
        for (const form of [`::${hex}`, `2002:${hex}::1`, `64:ff9b:1::${hex}`]) {
          if (form !== "::0:1") assert.equal(isAllowedAddress(form, policy), false, form);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("answers for any text without an error", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()),
        (text) => typeof isAllowedAddress(text, PUBLIC_ONLY) === "boolean",
      ),
    );
  });
});
