// SPDX-License-Identifier: MIT
// Whatever comcp's HTTP parsers accept, Node's own parser accepts too and reads the same; and with the same limits it
// refuses the same heads beyond them.
//
//   node http_differential.mjs HTTP_PARSE    prints one JSON line per check: requests, responses, bounds
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';

const COUNT = 6000;
const WAIT_MS = 5000; // a parser that still waits for bytes has not read the same
// Ours: 8 KiB for the line and 64 KiB for the fields; Node refuses what reaches its limit.
const LIMITS = { insecureHTTPParser: false, maxHeaderSize: (8 + 64) * 1024 + 1 };
const MOST_FIELDS = 100;

const text = (base64) => Buffer.from(base64, 'base64').toString('latin1');

function printed(program, ...words) {
  const run = spawnSync(program, words, { encoding: 'latin1', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`${program}: ${run.error ?? run.stderr}`);
  return run.stdout.trim().split('\n').map((line) => JSON.parse(line));
}

function casesOf(program, kind) {
  return printed(program, kind, String(COUNT), '1').map((value) => {
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

// Node leaves a target in absolute form as it came; ours is its path and query.
function originForm(url) {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^https?:\/\/[^/?]*/i, '');
  return rest === url || rest.startsWith('/') ? rest : '/' + rest;
}

async function requests(cases) {
  const asked = new Map(); // by the port of the client: an old connection may still have something to say
  const server = http.createServer({ ...LIMITS, keepAliveTimeout: 0 }, (request, response) => {
    const { method, url, httpVersion, rawHeaders } = request;
    const seen = asked.get(request.socket.remotePort);
    bodyOf(request).then((body) => {
      seen?.resolve({ method, target: originForm(url), version: httpVersion, fields: rawHeaders, body });
      response.end();
    }, (error) => seen?.reject(error));
  });
  server.maxHeadersCount = MOST_FIELDS;
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
      request.maxHeadersCount = MOST_FIELDS;
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

// What Node counts of a head: the target or the reason, the names and the values, but no blanks and line ends.
function weight(head) {
  const [first, ...fields] = head.split('\r\n').filter((line) => line);
  const counted = first.startsWith('HTTP/') ? first.slice('HTTP/1.1 200 '.length) : first.split(' ')[1];
  return fields.reduce((sum, line) => sum + line.replace(/: ?/, '').length, counted.length);
}

// What a parser with our limits says of a head at their bounds: how many names it has read, or why it read none. Of a
// response with too many fields it drops some, where we refuse it.
async function namesOfRequest(bytes, limits) {
  const answer = Promise.withResolvers();
  const server = http.createServer(limits, (request, response) => {
    answer.resolve(Object.keys(request.headersDistinct).length);
    response.end();
  });
  server.maxHeadersCount = MOST_FIELDS;
  server.on('clientError', (error, socket) => {
    answer.resolve(error.code);
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = net.connect(server.address().port, '127.0.0.1', () => socket.write(bytes));
  socket.on('error', () => {});
  return within(answer.promise).finally(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
}

async function namesOfResponse(bytes, limits) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = new Promise((resolve) => {
    const request = http.request({ ...limits, host: '127.0.0.1', port: server.address().port, agent: false });
    request.maxHeadersCount = MOST_FIELDS;
    request.on('error', (error) => resolve(error.code));
    request.on('response', (response) => {
      resolve(Object.keys(response.headersDistinct).length);
      request.destroy();
    });
    request.end();
  });
  return within(answer).finally(() => server.close());
}

async function bounds(program) {
  let count = 0;
  for (const [kind, names] of [['request', namesOfRequest], ['response', namesOfResponse]]) {
    const cases = printed(program, kind, 'bounds');
    for (const { what, over, accepted, names: sent, text: base64 } of cases) {
      const at = cases.find((one) => one.what === what && one.over === 0);
      const maxHeaderSize = what === 'count' ? LIMITS.maxHeaderSize : weight(text(at.text)) + 1;
      const got = await names(Buffer.from(base64, 'base64'), { ...LIMITS, maxHeaderSize });
      const refused = got === 'HPE_HEADER_OVERFLOW' || (what === 'count' && got === MOST_FIELDS);
      if (accepted !== over <= 0 || (accepted ? got !== sent : !refused)) {
        return [count, `${kind}, ${what} ${over}: we ${accepted ? 'accept' : 'refuse'}, Node: ${got} of ${sent}`];
      }
      ++count;
    }
  }
  return [count, undefined];
}

let failed = false;
const report = (check, ok, detail) => {
  failed ||= !ok;
  console.log(JSON.stringify({ check, ok, detail }));
};
for (const [check, kind, run] of [['requests', 'request', requests], ['responses', 'response', responses]]) {
  const [count, problem] = await run(casesOf(process.argv[2], kind));
  const enough = count > COUNT / 5; // else the comparison would say little
  report(check, problem === undefined && enough, problem ?? `${count} of ${COUNT} messages accepted and read alike`);
}
const [judged, problem] = await bounds(process.argv[2]);
report('bounds', problem === undefined && judged === 18, problem ?? `${judged} heads judged alike`);
process.exit(failed ? 1 : 0);
