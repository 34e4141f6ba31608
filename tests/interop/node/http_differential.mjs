// SPDX-License-Identifier: MIT
// Whatever comcp's HTTP parsers accept, Node's own parser accepts too and reads the same.
//
//   node http_differential.mjs HTTP_PARSE    prints one JSON line per check: requests, responses
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';

const COUNT = 6000;
const WAIT_MS = 5000; // a parser that still waits for bytes has not read the same
const LIMITS = { insecureHTTPParser: false, maxHeaderSize: (8 + 64) * 1024 + 1024 };

const text = (base64) => Buffer.from(base64, 'base64').toString('latin1');

function casesOf(program, kind) {
  const run = spawnSync(program, [kind, String(COUNT), '1'], { encoding: 'latin1', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`${program}: ${run.error ?? run.stderr}`);
  return run.stdout.trim().split('\n').map((line) => {
    const value = JSON.parse(line);
    const fields = value.fields.map(text);
    return { ...value, fields, body: text(value.body), bytes: Buffer.from(value.text, 'base64'), reason: text(value.reason ?? '') };
  });
}

function bodyOf(stream) {
  return new Promise((resolve, reject) => {
    const parts = [];
    stream.on('data', (part) => parts.push(part));
    stream.on('end', () => resolve(Buffer.concat(parts).toString('latin1')));
    stream.on('error', reject);
    stream.on('aborted', () => reject(new Error('aborted')));
  });
}

async function within(promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('still waiting')), WAIT_MS); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function requests(cases) {
  const asked = new Map(); // by the port of the client: an old connection may still have something to say
  const server = http.createServer({ ...LIMITS, keepAliveTimeout: 0 }, (request, response) => {
    const { method, url, httpVersion, rawHeaders } = request;
    const seen = asked.get(request.socket.remotePort);
    bodyOf(request).then((body) => {
      seen?.resolve({ method, target: url, version: httpVersion, fields: rawHeaders, body });
      response.end();
    }, (error) => seen?.reject(error));
  });
  server.maxHeadersCount = 0;
  server.on('clientError', (error, socket) => {
    asked.get(socket.remotePort)?.reject(error);
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const known = cases.filter((one) => http.METHODS.includes(one.method));
  const problem = await compare(known, ['method', 'target', 'version', 'fields', 'body'], (one) => {
    const seen = Promise.withResolvers();
    let port;
    const socket = net.connect(server.address().port, '127.0.0.1', () => {
      port = socket.localPort;
      asked.set(port, seen);
      socket.write(one.bytes);
    });
    socket.on('error', () => {}); // it shows at the server
    return within(seen.promise).finally(() => {
      asked.delete(port);
      socket.destroy();
    });
  });
  server.close();
  server.closeAllConnections();
  return [known.length, problem];
}

async function responses(cases) {
  let current;
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(current.bytes));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  // llhttp reads a body after 204 and 304 when one is announced; RFC 9112 section 6.3 says that there is none.
  const framed = (one) => one.fields.some((name, i) => i % 2 === 0 && /^(content-length|transfer-encoding)$/i.test(name));
  const known = cases.filter((one) => ![204, 304].includes(one.status) || !framed(one));
  const problem = await compare(known, ['status', 'reason', 'version', 'fields', 'body'], (one) => {
    current = one;
    return within(new Promise((resolve, reject) => {
      const request = http.request({ ...LIMITS, host: '127.0.0.1', port: server.address().port, method: one.asked, agent: false });
      request.maxHeadersCount = 0;
      request.on('error', reject);
      request.on('response', (response) => {
        const { statusCode, statusMessage, httpVersion, rawHeaders } = response;
        bodyOf(response).then((body) => {
          resolve({ status: statusCode, reason: statusMessage, version: httpVersion, fields: rawHeaders, body });
          request.destroy();
        }, reject);
      });
      request.end();
    }));
  });
  server.close();
  return [known.length, problem];
}

async function compare(cases, members, ask) {
  for (const one of cases) {
    let got;
    try {
      got = await ask(one);
    } catch (error) {
      return `seed ${one.seed}: ${error.code ?? ''} ${error.message}: ${JSON.stringify(one.bytes.toString('latin1'))}`;
    }
    for (const member of members) {
      if (JSON.stringify(got[member]) !== JSON.stringify(one[member])) {
        return `seed ${one.seed}, ${member}: we read ${JSON.stringify(one[member])}, Node ${JSON.stringify(got[member])}`;
      }
    }
  }
  return undefined;
}

let failed = false;
for (const [check, kind, run] of [['requests', 'request', requests], ['responses', 'response', responses]]) {
  const [count, problem] = await run(casesOf(process.argv[2], kind));
  const enough = count > COUNT / 5; // else the comparison would say little
  const ok = problem === undefined && enough;
  failed ||= !ok;
  console.log(JSON.stringify({ check, ok, detail: problem ?? `${count} of ${COUNT} messages accepted and read alike` }));
}
process.exit(failed ? 1 : 0);
