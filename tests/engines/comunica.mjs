// Answers the queries given on stdin ({data, queries, formats}) and prints {query: {format: text}}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

const require = createRequire(process.argv[2]);
const { QueryEngine } = require('@comunica/query-sparql-rdfjs');
const { Parser, Store } = require('n3');

const asked = JSON.parse(readFileSync(0, 'utf8'));
const store = new Store(new Parser().parse(asked.data));
const engine = new QueryEngine();
const answered = {};
for (const [name, query] of Object.entries(asked.queries)) {
  answered[name] = {};
  for (const [format, mediaType] of Object.entries(asked.formats)) {
    const result = await engine.query(query, { sources: [store] });
    answered[name][format] = await text((await engine.resultToString(result, mediaType)).data);
  }
}
process.stdout.write(JSON.stringify(answered));
