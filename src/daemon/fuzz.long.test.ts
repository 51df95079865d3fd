import { apiFuzz } from "../testing/apiFuzzSuite.ts";

apiFuzz({ requests: 6_000, calls: 2_000 });
