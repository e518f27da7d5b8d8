// @a2a-js/sdk 0.3, the last of its line, over both bindings.
import assert from 'node:assert/strict';
import { test, describe } from 'node:test';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'a2a-js-03/client';
import { base, newID, webhook } from './common.mjs';

const bindings = [
  { name: 'JSON-RPC', transport: new JsonRpcTransportFactory(), protocol: 'JSONRPC' },
  { name: 'HTTP+JSON', transport: new RestTransportFactory(), protocol: 'HTTP+JSON' },
];

const say = (text, configuration) => ({
  message: { kind: 'message', messageId: newID(), role: 'user', parts: [{ kind: 'text', text }] },
  configuration,
});

async function tell(stream) {
  const kinds = [];
  let text = '';
  let last;
  for await (const e of stream) {
    kinds.push(e.kind);
    last = e.status?.state ?? last;
    for (const p of e.artifact?.parts ?? []) text += p.text;
  }
  return { kinds, text, last };
}

describe('JavaScript 0.3', { concurrency: true }, () => {
  for (const b of bindings) {
    const connect = () => new ClientFactory({ transports: [b.transport], preferredTransports: [b.protocol] }).createFromUrl(base);

    async function begin(client, text) {
      const task = await client.sendMessage(say(text, { blocking: false }));
      assert.ok(['submitted', 'working'].includes(task.status.state), task.status.state);
      return task;
    }

    describe(b.name, { concurrency: true }, () => {
      test('card', async () => {
        const card = await (await connect()).getAgentCard();
        assert.equal(card.name, 'conformance');
        assert.equal(card.protocolVersion, '0.3');
        assert.ok(card.skills[0].examples.length > 1, 'the extended card has all examples');
      });

      test('send', async () => {
        const client = await connect();
        const task = await client.sendMessage(say('tck-artifact-text', { blocking: true }));
        assert.equal(task.kind, 'task');
        assert.equal(task.status.state, 'completed');
        assert.equal(task.artifacts[0].parts[0].text, 'Generated text content');
        const message = await client.sendMessage(say('tck-message-response', { blocking: true }));
        assert.equal(message.kind, 'message');
        const failed = await client.sendMessage(say('tck-task-failure', { blocking: true }));
        assert.equal(failed.status.state, 'failed');
      });

      test('stream', async () => {
        const got = await tell((await connect()).sendMessageStream(say('tck-stream-artifact-chunked')));
        assert.equal(got.kinds[0], 'task');
        assert.equal(got.text, 'chunk-1 chunk-2');
        assert.equal(got.last, 'completed');
      });

      test('get', async () => {
        const client = await connect();
        const task = await client.sendMessage(say('tck-complete-task', { blocking: true }));
        const got = await client.getTask({ id: task.id });
        assert.equal(got.id, task.id);
        assert.equal(got.history[0].parts[0].text, 'tck-complete-task');
      });

      test('cancel', async () => {
        const client = await connect();
        const task = await begin(client, 'tck-cancel');
        assert.equal((await client.cancelTask({ id: task.id })).status.state, 'canceled');
      });

      test('attach again', async () => {
        const client = await connect();
        const task = await begin(client, 'test-resubscribe-message-id');
        const listeners = [client, await connect()].map((c) => tell(c.resubscribeTask({ id: task.id })));
        for (const got of await Promise.all(listeners)) assert.equal(got.last, 'completed');
      });

      test('push', async () => {
        const client = await connect();
        const hook = await webhook();
        try {
          const task = await client.sendMessage(say('tck-complete-task', { blocking: true, pushNotificationConfig: { url: hook.url, token: 't-1' } }));
          const told = await hook.wait(({ body }) => body.status?.state === 'completed');
          assert.equal(told.body.id, task.id);
          assert.equal(told.headers['x-a2a-notification-token'], 't-1');
          await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig: { id: 'second', url: hook.url } });
          const one = await client.getTaskPushNotificationConfig({ id: task.id, pushNotificationConfigId: 'second' });
          assert.equal(one.pushNotificationConfig.url, hook.url);
          assert.equal((await client.listTaskPushNotificationConfig({ id: task.id })).length, 2);
          await client.deleteTaskPushNotificationConfig({ id: task.id, pushNotificationConfigId: 'second' });
          assert.equal((await client.listTaskPushNotificationConfig({ id: task.id })).length, 1);
        } finally {
          hook.close();
        }
      });

      test('unknown', async () => {
        const client = await connect();
        const id = newID();
        await assert.rejects(client.getTask({ id }), /not found|no task|no such task/i);
        await assert.rejects(client.cancelTask({ id }), /not found|no task|no such task/i);
        // Over JSON-RPC this client says of a plain answer only that it is no stream.
        await assert.rejects(tell(client.resubscribeTask({ id })), /not found|no task|no such task|Content-Type/i);
      });
    });
  }
});
