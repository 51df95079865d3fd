import { apiFuzz } from "../testing/apiFuzzSuite.ts";

apiFuzz({ requests: 300, calls: 120 });
