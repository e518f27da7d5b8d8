// The agents of the local system: their cards, and their work.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, describe } from 'node:test';
import { SendMessageRequest, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { importJWK } from 'jose';
import { newID } from './common.mjs';

const hosting = process.env.A2A_HOSTING;
const json = async (url) => (await fetch(url)).json();

// verifier believes the keys that are beside the agent.
const verifier = (agent) =>
  verifyAgentCardSignature(async (kid) => {
    const { keys } = await json(`${agent}/.well-known/jwks.json`);
    return importJWK(keys.find((k) => k.kid === kid), 'ES256');
  });

describe('the local system', { concurrency: true }, () => {
  test('every card of the directory is signed, and a change is noticed', async () => {
    const { agents } = await json(`${hosting}/.well-known/agents.json`);
    assert.equal(agents.length >= 20, true, `${agents.length} agents`);
    for (const { name, url, card_url, card } of agents) {
      assert.equal(card.name, name);
      assert.deepEqual(await json(card_url), card);
      const verify = verifier(url);
      await verify(card);
      const debug = console.debug;
      console.debug = () => {}; // the SDK tells each signature that does not hold
      try {
        card.supportedInterfaces[0].url = 'https://evil.example';
        await assert.rejects(verify(card), /No valid signatures/);
      } finally {
        console.debug = debug;
      }
    }
  });

  test('an agent does its work', async () => {
    const kitchen = JSON.parse(await readFile('../../../testdata/kitchen.json', 'utf8'));
    const { agents } = await json(`${hosting}/.well-known/agents.json`);
    const { url } = agents.find((a) => a.name === 'location');
    for (const transport of [new JsonRpcTransportFactory(), new RestTransportFactory()]) {
      const client = await new ClientFactory({ transports: [transport] }).createFromUrl(`${url}/`);
      await client.getAgentCard(undefined, verifier(url));
      const data = { estimate_id: 'est-js', input: { clarification_output: kitchen } };
      const task = await client.sendMessage(
        SendMessageRequest.fromJSON({ message: { messageId: newID(), role: 'ROLE_USER', parts: [{ data }] } }),
      );
      assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(task.artifacts[0].parts[0].content.value.state, 'CO');
    }
  });
});
