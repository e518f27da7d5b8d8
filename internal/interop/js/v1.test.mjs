// @a2a-js/sdk 1.x: A2A 1.0, and its compatibility with 0.3, over both bindings.
import assert from 'node:assert/strict';
import { test, describe } from 'node:test';
import { Role, SendMessageRequest, StreamResponse, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { base, newID, webhook } from './common.mjs';

const bindings = [
  { name: '1.0 JSON-RPC', protocol: 'JSONRPC', version: '1.0', lists: true },
  { name: '1.0 HTTP+JSON', protocol: 'HTTP+JSON', version: '1.0', lists: true },
  { name: '0.3 JSON-RPC', protocol: 'JSONRPC', version: '0.3', lists: false },
  { name: '0.3 HTTP+JSON', protocol: 'HTTP+JSON', version: '0.3', lists: false },
];

// connect reads the card and leaves the client one way to take.
async function connect({ protocol, version }) {
  const legacyCompat = { enabled: version === '0.3' };
  const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(base);
  const ways = card.supportedInterfaces.filter((i) => i.protocolBinding === protocol && i.protocolVersion === version);
  assert.equal(ways.length, 1, `the card has ${protocol} ${version}`);
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
  });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces: ways });
  assert.equal(client.protocolVersion, version);
  return client;
}

const say = (text, configuration) =>
  SendMessageRequest.fromJSON({ message: { messageId: newID(), role: 'ROLE_USER', parts: [{ text }] }, configuration });

// begin sends a message and does not wait for its end.
async function begin(client, text) {
  const task = await client.sendMessage(say(text, { returnImmediately: true }));
  assert.ok([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING].includes(task.status.state), `state ${task.status.state}`);
  return task;
}

// tell names the events of a stream, joins its texts, and says the last state.
async function tell(stream) {
  const names = [];
  let text = '';
  let last;
  for await (const e of stream) {
    const { $case, value } = e.payload;
    names.push($case);
    last = value.status?.state ?? last;
    for (const p of value.artifact?.parts ?? []) text += p.content.value;
  }
  return { names, text, last };
}

describe('JavaScript 1.x', { concurrency: true }, () => {
  for (const b of bindings) {
    describe(b.name, { concurrency: true }, () => {
      test('card', async () => {
        const client = await connect(b);
        const card = await client.getAgentCard();
        assert.equal(card.name, 'conformance');
        assert.equal(card.capabilities.streaming, true);
        assert.ok(card.skills[0].examples.length > 1, 'the extended card has all examples');
      });

      test('send', async () => {
        const client = await connect(b);
        const task = await client.sendMessage(say('tck-artifact-text'));
        assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
        assert.equal(task.artifacts[0].parts[0].content.value, 'Generated text content');
        const message = await client.sendMessage(say('tck-message-response'));
        assert.equal(message.role, Role.ROLE_AGENT);
        assert.equal(message.parts[0].content.value, 'Direct message response');
        const failed = await client.sendMessage(say('tck-task-failure'));
        assert.equal(failed.status.state, TaskState.TASK_STATE_FAILED);
        const data = await client.sendMessage(say('tck-artifact-data'));
        assert.deepEqual(data.artifacts[0].parts[0].content.value, { key: 'value', count: 42 });
      });

      test('stream', async () => {
        const client = await connect(b);
        const got = await tell(client.sendMessageStream(say('tck-stream-artifact-chunked')));
        assert.equal(got.names[0], 'task');
        assert.equal(got.text, 'chunk-1 chunk-2');
        assert.equal(got.last, TaskState.TASK_STATE_COMPLETED);
      });

      test('get and list', async () => {
        const client = await connect(b);
        const task = await client.sendMessage(say('tck-complete-task'));
        const got = await client.getTask({ tenant: '', id: task.id });
        assert.equal(got.id, task.id);
        assert.equal(got.contextId, task.contextId);
        if (!b.lists) return;
        const page = await client.listTasks({ tenant: '', contextId: task.contextId, pageToken: '', status: TaskState.TASK_STATE_UNSPECIFIED });
        assert.deepEqual(page.tasks.map((t) => t.id), [task.id]);
      });

      test('cancel', async () => {
        const client = await connect(b);
        const task = await begin(client, 'tck-cancel');
        const got = await client.cancelTask({ tenant: '', id: task.id });
        assert.equal(got.status.state, TaskState.TASK_STATE_CANCELED);
        const done = await client.sendMessage(say('tck-complete-task'));
        await assert.rejects(client.cancelTask({ tenant: '', id: done.id }), /cancel/i);
      });

      test('attach again', async () => {
        const client = await connect(b);
        const task = await begin(client, 'test-resubscribe-message-id');
        const listeners = [client, await connect(b)].map((c) => tell(c.resubscribeTask({ tenant: '', id: task.id })));
        for (const got of await Promise.all(listeners)) assert.equal(got.last, TaskState.TASK_STATE_COMPLETED);
      });

      test('push', async () => {
        const client = await connect(b);
        const hook = await webhook();
        try {
          const task = await client.sendMessage(say('tck-complete-task', { taskPushNotificationConfig: { url: hook.url, token: 't-1' } }));
          const told = await hook.wait(({ body }) => /completed/i.test(JSON.stringify(body.statusUpdate?.status ?? body.status ?? '')));
          assert.equal(told.headers['a2a-notification-token'], 't-1');
          if (b.version === '1.0') assert.equal(StreamResponse.fromJSON(told.body).payload.value.taskId, task.id);
          else assert.equal(told.body.id, task.id);
          const of = { tenant: '', taskId: task.id };
          await client.createTaskPushNotificationConfig({ ...of, id: 'second', url: hook.url, token: '' });
          assert.equal((await client.getTaskPushNotificationConfig({ ...of, id: 'second' })).url, hook.url);
          const all = async () => (await client.listTaskPushNotificationConfig({ ...of, pageSize: 10, pageToken: '' })).configs.length;
          assert.equal(await all(), 2);
          await client.deleteTaskPushNotificationConfig({ ...of, id: 'second' });
          assert.equal(await all(), 1);
        } finally {
          hook.close();
        }
      });

      test('unknown', async () => {
        const client = await connect(b);
        const id = newID();
        await assert.rejects(client.getTask({ tenant: '', id }), /not found|no task|no such task/i);
        await assert.rejects(client.cancelTask({ tenant: '', id }), /not found|no task|no such task/i);
        await assert.rejects(tell(client.resubscribeTask({ tenant: '', id })), /not found|no task|no such task/i);
      });
    });
  }
});
