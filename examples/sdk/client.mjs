// The bare typed client, which also runs in a browser: a URL, a token, and every operation of the API.
import { createClient } from "tieline/client";

const client = createClient({ url: process.env.TIELINE_URL, token: process.env.TIELINE_TOKEN }, {});
const { name, knownBy } = await client.call("whoami", {});
console.log(`I am ${name}, known by ${knownBy}`);
