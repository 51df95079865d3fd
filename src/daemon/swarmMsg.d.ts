declare module "*/swarm-msg" {
  const text: string;
  export default text;
}
