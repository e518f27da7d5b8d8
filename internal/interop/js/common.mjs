// What the tests of both clients share: where the agent is, and a webhook.
import { createServer } from 'node:http';
import { once } from 'node:events';

export const base = process.env.A2A_AGENT;

// newID is the id of a message; the conformance agent reads the text instead.
export const newID = () => crypto.randomUUID();

// webhook starts a receiver; wait resolves with the first body that is wanted.
export async function webhook() {
  const got = [];
  let wake = () => {};
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    got.push({ headers: req.headers, body: JSON.parse(text) });
    res.end();
    wake();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    close: () => server.close(),
    async wait(wanted) {
      const end = Date.now() + 20_000;
      for (;;) {
        const found = got.find(wanted);
        if (found) return found;
        if (Date.now() > end) throw new Error(`no such notification among ${JSON.stringify(got)}`);
        await new Promise((resolve) => {
          wake = resolve;
          setTimeout(resolve, 500);
        });
      }
    },
  };
}
